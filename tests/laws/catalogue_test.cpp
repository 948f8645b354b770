#include "bristle/laws/catalogue.hpp"

#include <gtest/gtest.h>

namespace bristle {
namespace {

TEST(Catalogue, EveryNameIsFoundAndUnique) {
  for (const LawEntry& law : catalogue()) {
    const auto found = find_law(law.info.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, &law);
  }
}

TEST(Catalogue, AMisspeltNameGetsTheNearestOne) {
  const auto found = find_law("gonthire");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().find("did you mean \"gonthier\""), std::string::npos)
      << found.error();
}

TEST(Catalogue, DefaultsLieInTheirRanges) {
  for (const LawEntry& law : catalogue()) {
    for (const Parameter& p : law.parameters) {
      EXPECT_EQ(out_of_range(p, p.preset), "") << law.info.name;
    }
  }
}

TEST(Catalogue, ValuesOutsideTheirRangeAreRefusedWithNameValueAndRange) {
  const Parameter p{"stiffness", "k", "N/m", above(0, 1e15), 1, ""};
  EXPECT_EQ(out_of_range(p, -3), "stiffness = -3 must lie in (0, 1e+15] N/m");
  EXPECT_NE(out_of_range(p, 0), "");
  EXPECT_NE(out_of_range(p, 2e15), "");
  EXPECT_NE(out_of_range(p, std::nan("")), "");
  EXPECT_EQ(out_of_range(p, 1e15), "");
}

TEST(Catalogue, TextBecomesAValueOrAMessage) {
  const Parameter number{"speed", "v", "m/s", above(0, 10), 1, ""};
  const Parameter flag{"clamp", "", "flag", yes_or_no, 1, ""};
  EXPECT_EQ(*parse_value(number, "2.5"), 2.5);
  EXPECT_EQ(*parse_value(flag, "false"), 0);
  EXPECT_EQ(*parse_value(flag, "1"), 1);
  for (const char* text : {"", "fast", "2.5x", "nan", "inf", "1e999", "-1"}) {
    EXPECT_FALSE(parse_value(number, text)) << text;
  }
  EXPECT_FALSE(parse_value(flag, "0.5"));
}

TEST(Catalogue, AChoiceIsSetByNameOrNumber) {
  const Parameter p{
      "curve", "", "choice", choice_of(3), 1, "", {"line", "cubic", "tanh"}};
  EXPECT_EQ(p.choice_count(), 3);
  EXPECT_EQ(*parse_value(p, "line"), 0);
  EXPECT_EQ(*parse_value(p, "tanh"), 2);
  EXPECT_EQ(*parse_value(p, "1"), 1);
  EXPECT_EQ(parse_value(p, "sine").error(),
            "curve = \"sine\" must be line, cubic or tanh");
  EXPECT_EQ(parse_value(p, "3").error(), "curve = 3 must be line, cubic or tanh");
  for (const char* text : {"", "0.5", "-1", "nan"}) EXPECT_FALSE(parse_value(p, text));
}

}  // namespace
}  // namespace bristle
