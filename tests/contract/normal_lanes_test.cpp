#include "tests/contract/lanes.hpp"

namespace bristle::contract {
namespace {

template <class L>
class NormalLanes : public ::testing::Test {};
TYPED_TEST_SUITE(NormalLanes, NormalTypes, LawName);

template <class L, class P>
void check_lanes(std::uint64_t seed) {
  for_lanes<L, P>(seed, draw_normal<L>, [](const Lanes<L, P>& lanes) {
    lanes.expect_same("touch",
                      [](const auto& s) { return touch<L>(s.params, s.kin.rate); });
    lanes.expect_same(
        "evaluate", [](const auto& s) { return evaluate<L>(s.params, s.state, s.kin); });
    lanes.expect_same("advance", [](const auto& s) {
      return advance<L>(s.params, s.state, s.kin, s.step);
    });
    lanes.expect_same("linearise", [](const auto& s) {
      return linearise<L>(s.params, s.state, s.kin);
    });
    lanes.expect_same("guards",
                      [](const auto& s) { return guards<L>(s.params, s.state, s.kin); });
  });
}

TYPED_TEST(NormalLanes, EveryLaneEqualsTheScalarResultInDouble) {
  check_lanes<TypeParam, NativePack<double>>(21);
}
TYPED_TEST(NormalLanes, EveryLaneEqualsTheScalarResultInFloat) {
  check_lanes<TypeParam, NativePack<float>>(22);
}

}  // namespace
}  // namespace bristle::contract
