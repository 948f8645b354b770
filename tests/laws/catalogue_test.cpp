#include "bristle/laws/catalogue.hpp"

#include <gtest/gtest.h>

TEST(Catalogue, IsNotEmpty) { EXPECT_FALSE(bristle::law_names().empty()); }
