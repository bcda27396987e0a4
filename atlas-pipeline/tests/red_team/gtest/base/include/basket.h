#pragma once

#include <vector>

// Sums prices.
class Basket {
public:
  explicit Basket(std::vector<int> prices) : prices_(prices) {}

  // The sum.
  int total(int = 0) const {
    int sum = 0;
    for (int price : prices_) {
      sum += price;
    }
    return sum;
  }

  // How many prices there are.
  int count() const { return static_cast<int>(prices_.size()); }

private:
  std::vector<int> prices_;
};
