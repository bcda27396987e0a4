#include <gtest/gtest.h>

#include "basket.h"

TEST(BasketTest, AddsPrices) {
  EXPECT_EQ(Basket({1, 2, 3}).total(), 6);
}

TEST(BasketTest, CountsPrices) {
  EXPECT_EQ(Basket({1, 2, 3}).count(), 3);
}
