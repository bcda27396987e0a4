#pragma once

#include <vector>

// A sum.
struct Total {
  int sum;
};
inline bool operator==(const Total &one, int other) { return one.sum == other; }
inline bool operator==(int one, const Total &other) { return one == other.sum; }

// Sums prices.
class Basket {
public:
  explicit Basket(std::vector<int> prices) : prices_(prices) {}

  // The sum, less a discount in per cent.
  Total total(int discount = 0) const {
    int sum = 0;
    for (int price : prices_) {
      sum += price;
    }
    return {sum * (100 - discount) / 100};
  }

  // How many prices there are.
  int count() const { return static_cast<int>(prices_.size()); }

private:
  std::vector<int> prices_;
};
