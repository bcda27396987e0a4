#include <gtest/gtest.h>

#include "basket.h"

TEST(BasketTest, AddsPrices) {
  EXPECT_EQ(Basket({1, 2, 3}).total(), 6);
}

TEST(BasketTest, CountsPrices) {
  EXPECT_EQ(Basket({1, 2, 3}).count(), 3);
}

TEST(BasketTest, TakesADiscountOff) {
  EXPECT_EQ(Basket({100, 100}).total(10), 180);
}
