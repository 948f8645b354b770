#include "tests/dynamics/oracle_check.hpp"

namespace bristle {
namespace {

TEST(AgainstSimbody, RandomTreesHaveTheSameDynamics) {
  test::expect_agreement(test::ask_simbody, false, 1e-10);
}

}  // namespace
}  // namespace bristle
