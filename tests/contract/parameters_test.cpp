#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bristle/laws/catalogue.hpp"
#include "gtest/gtest.h"

// What every law says about itself, and what it refuses.

namespace bristle {
namespace {

TEST(EveryLaw, SaysWhatItIs) {
  for (const LawEntry& law : catalogue()) {
    SCOPED_TRACE(law.info.name);
    for (const std::string_view text : {law.info.title, law.info.formula, law.info.source,
                                        law.info.limits, law.info.energy}) {
      EXPECT_FALSE(text.empty());
    }
    std::vector<std::string_view> names;
    for (const Parameter& p : law.parameters) {
      EXPECT_FALSE(p.meaning.empty()) << p.name;
      EXPECT_FALSE(p.unit.empty()) << p.name;
      EXPECT_LT(p.range.low, p.range.high) << p.name;
      EXPECT_TRUE(std::isfinite(p.range.low) && std::isfinite(p.range.high)) << p.name;
      EXPECT_EQ(out_of_range(p, p.preset), "");
      names.push_back(p.name);
    }
    for (const StateField& s : law.state) {
      EXPECT_FALSE(s.meaning.empty() || s.unit.empty()) << s.name;
      names.push_back(s.name);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
    }
  }
}

/// The message names the parameter, the value as typed, and both ends of the range.
void expect_refused(const Parameter& p, double value, const std::string& typed) {
  const std::string message = out_of_range(p, value);
  const auto result = parse_value(p, typed);
  ASSERT_FALSE(message.empty()) << p.name << " = " << typed;
  ASSERT_FALSE(result) << p.name << " = " << typed;
  EXPECT_EQ(message, result.error());
  EXPECT_EQ(message.find(p.name), 0) << message;
  EXPECT_NE(message.find(typed), std::string::npos) << message;
  if (p.is_flag()) {
    EXPECT_NE(message.find("true or false"), std::string::npos) << message;
    return;
  }
  if (p.is_choice()) {
    for (std::size_t i = 0; i < p.choice_count(); ++i) {
      EXPECT_NE(message.find(p.choices[i]), std::string::npos) << message;
    }
    return;
  }
  const std::size_t bracket = message.find(p.range.open_low ? '(' : '[');
  ASSERT_NE(bracket, std::string::npos) << message;
  std::size_t used = 0;
  const std::string rest = message.substr(bracket + 1);
  EXPECT_EQ(std::stod(rest, &used), p.range.low) << message;
  EXPECT_EQ(std::stod(rest.substr(used + 1)), p.range.high) << message;
  if (p.unit != "1") {
    EXPECT_NE(message.find(p.unit), std::string::npos) << message;
  }
}

TEST(EveryLaw, RefusesValuesOutsideTheRangeWithNameValueAndRange) {
  for (const LawEntry& law : catalogue()) {
    SCOPED_TRACE(law.info.name);
    for (const Parameter& p : law.parameters) {
      expect_refused(p, -1e30, "-1e+30");
      expect_refused(p, 1e30, "1e+30");
      if (p.range.open_low && p.range.low == 0) expect_refused(p, 0, "0");
      if (p.is_flag() || p.is_choice()) expect_refused(p, 0.5, "0.5");
      EXPECT_NE(out_of_range(p, std::nan("")), "");
      EXPECT_NE(out_of_range(p, std::numeric_limits<double>::infinity()), "");
      EXPECT_NE(out_of_range(p, std::nextafter(p.range.high, 1e300)), "");
      EXPECT_NE(out_of_range(p, std::nextafter(p.range.low, -1e300)), "");
      EXPECT_EQ(out_of_range(p, p.range.high), "");
      EXPECT_EQ(out_of_range(p, p.range.low).empty(), !p.range.open_low) << p.name;
      for (const char* text : {"", " ", "x", "1.0.0", "0x10", "--1", "nan", "inf"}) {
        EXPECT_FALSE(parse_value(p, text)) << p.name << " = \"" << text << '"';
      }
    }
  }
}

TEST(EveryLaw, AcceptsWhatItsRangeAllows) {
  for (const LawEntry& law : catalogue()) {
    for (const Parameter& p : law.parameters) {
      const auto high = parse_value(p, std::to_string(p.range.high));
      ASSERT_TRUE(high) << high.error();
      EXPECT_EQ(*high, p.range.high);
    }
  }
}

}  // namespace
}  // namespace bristle
