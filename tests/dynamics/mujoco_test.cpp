#include "tests/dynamics/oracle_check.hpp"

namespace bristle {
namespace {

TEST(AgainstMujoco, RandomTreesHaveTheSameDynamics) {
  test::expect_agreement(test::ask_mujoco, true, 1e-10);
}

}  // namespace
}  // namespace bristle
