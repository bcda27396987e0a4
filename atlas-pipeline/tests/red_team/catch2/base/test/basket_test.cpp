#include <catch2/catch_test_macros.hpp>

#include "basket.h"

TEST_CASE("AddsPrices") {
  CHECK(Basket({1, 2, 3}).total() == 6);
}

TEST_CASE("CountsPrices") {
  CHECK(Basket({1, 2, 3}).count() == 3);
}
