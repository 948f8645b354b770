#include <gtest/gtest.h>

#include "bristle/contact/register_law.hpp"
#include "tests/contract/support.hpp"

// Registers the laws under test from outside the library, so that tests of the catalogue
// see them.

namespace bristle::contract {
namespace {

template <class... Laws>
bool register_all(LawList<Laws...>) {
  return (static_cast<bool>(register_law<Laws>()) && ...);
}

const bool registered =
    register_all(TestedNormalLaws{}) && register_all(TestedFrictionLaws{});

TEST(LawsUnderTest, AreRegistered) { EXPECT_TRUE(registered); }

}  // namespace
}  // namespace bristle::contract
