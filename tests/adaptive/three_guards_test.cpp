#include <gtest/gtest.h>

#include "bristle/contact/pass.hpp"
#include "tests/adaptive/three_switches.hpp"

// A law with three guards works by declaring them.

namespace bristle {
namespace {

static_assert(NormalLaw<ThreeSwitches>);
static_assert(guard_of<ThreeSwitches>(GuardRole::clamp) == 1);
static_assert(guard_of<ThreeSwitches>(GuardRole::slip) == 3);

// One contact for each of the 27 ways to hold three guards: a few packs and some more.
TEST(ThreeGuards, APassHoldsEachOnItsSide) {
  constexpr std::size_t n = 27;
  const auto p = default_params<ThreeSwitches>();
  std::vector<double> depth(n, 0.9e-3), rate(n, 0.21), force(n), sides(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t way = i;
    for (std::size_t k = 0; k < 3; ++k, way /= 3) {
      sides[k * n + i] = static_cast<double>(way % 3) - 1;
    }
  }
  ContactColumns<double> columns{};
  columns.depth = depth.data();
  columns.rate = rate.data();
  columns.normal_force = force.data();
  columns.normal_held = {sides.data(), n};
  LawTotals totals;
  normal_pass<ThreeSwitches, Books::none, double, Form::evaluate>(p, columns, {0, n}, 0,
                                                                  totals);
  const double spring = p.stiffness * depth[0], damper = p.damping * rate[0];
  for (std::size_t i = 0; i < n; ++i) {
    const double hard = sides[i], presses = sides[n + i], fast = sides[2 * n + i];
    // Free, the contact is not as deep, presses, and is faster.
    const double more = hard > 0 ? p.more * (depth[i] - p.beyond) : 0;
    const double stronger = fast >= 0 ? p.stronger * (rate[i] - p.above) : 0;
    const double sum = spring + more + damper + stronger;
    EXPECT_NEAR(force[i], presses >= 0 ? sum : 0, 1e-12 * spring) << i;
  }
}

}  // namespace
}  // namespace bristle
