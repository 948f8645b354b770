#include "tests/contract/lanes.hpp"

namespace bristle::contract {
namespace {

template <class L>
class FrictionLanes : public ::testing::Test {};
TYPED_TEST_SUITE(FrictionLanes, FrictionTypes, LawName);

template <class L, class P>
void check_lanes(std::uint64_t seed) {
  for_lanes<L, P>(seed, draw_friction<L>, [](const Lanes<L, P>& lanes) {
    lanes.expect_same("touch", [](const auto& s) { return touch<L>(s.params); });
    lanes.expect_same("evaluate", [](const auto& s) {
      return evaluate<L>(s.params, s.state, s.kin, s.normal_force);
    });
    lanes.expect_same("advance", [](const auto& s) {
      return advance<L>(s.params, s.state, s.kin, s.normal_force, s.step);
    });
    lanes.expect_same("linearise", [](const auto& s) {
      return linearise<L>(s.params, s.state, s.kin, s.normal_force);
    });
    lanes.expect_same("spring", [](const auto& s) {
      return spring<L>(s.params, s.state, s.kin, s.normal_force);
    });
    lanes.expect_same("guards", [](const auto& s) {
      return guards<L>(s.params, s.state, s.kin, s.normal_force);
    });
    lanes.expect_same("commit", [](const auto& s) {
      return commit<L>(s.params, s.state, s.kin, s.normal_force);
    });
  });
}

TYPED_TEST(FrictionLanes, EveryLaneEqualsTheScalarResultInDouble) {
  check_lanes<TypeParam, NativePack<double>>(31);
}
TYPED_TEST(FrictionLanes, EveryLaneEqualsTheScalarResultInFloat) {
  check_lanes<TypeParam, NativePack<float>>(32);
}

}  // namespace
}  // namespace bristle::contract
