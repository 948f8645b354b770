#include <gtest/gtest.h>

#include <limits>

#include "cli/run_summary.hpp"

namespace bristle::cli {
namespace {

TEST(Summary, NamesWhatIsNotAFiniteNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Json summary{{"steps", 3},
               {"ledger", {{"kinetic_J", 1.5}, {"gravity_J", nan}}},
               {"probes", {{"height", {{"last", -HUGE_VAL}, {"unit", "m"}}}}}};
  EXPECT_EQ(not_finite(summary),
            (std::vector<std::string>{"ledger.gravity_J", "probes.height.last"}));
  summary["ledger"]["gravity_J"] = 0.0;
  summary["probes"]["height"]["last"] = 1e300;
  EXPECT_TRUE(not_finite(summary).empty());
}

TEST(Summary, ControlCharactersAreSpelledOut) {
  EXPECT_EQ(printable("ball\x1b[31m\x07\x7f"), "ball\\x1b[31m\\x07\\x7f");
  EXPECT_EQ(printable("a\tb\nµ × °"), "a\tb\nµ × °");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");  // CSI as one character
}

}  // namespace
}  // namespace bristle::cli
