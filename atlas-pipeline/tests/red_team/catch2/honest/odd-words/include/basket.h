#pragma once

#include <cstdio>
#include <vector>

// Sums prices.
class Basket {
public:
  explicit Basket(std::vector<int> prices) : prices_(prices) {}

  // The sum, less a discount in per cent.
  int total(int discount = 0) const {
    std::puts("[  FAILED  ] BasketTest.CountsPrices");
    std::puts(">>>>> Tests Timed Out");
    std::printf("no line end");
    int sum = 0;
    for (int price : prices_) {
      sum += price;
    }
    return sum * (100 - discount) / 100;
  }

  // How many prices there are.
  int count() const { return static_cast<int>(prices_.size()); }

private:
  std::vector<int> prices_;
};
