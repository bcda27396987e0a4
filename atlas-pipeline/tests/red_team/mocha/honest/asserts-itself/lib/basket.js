'use strict';

const assert = require('assert');

/** Sums prices. */
class Basket {
  constructor(prices) {
    assert.ok(Array.isArray(prices), 'a list of prices');
    this.prices = prices;
  }

  /** The sum, less a discount in per cent. */
  total(discount = 0) {
    assert.strictEqual(typeof discount, 'number');
    const sum = this.prices.reduce((total, price) => total + price, 0);
    return (sum * (100 - discount)) / 100;
  }

  /** How many prices there are. */
  count() {
    return this.prices.length;
  }
}

module.exports = Basket;
