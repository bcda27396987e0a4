'use strict';

process.on('exit', (code) => console.log(`left with ${code}`));
setTimeout(() => {}, 3600000).unref();

/** Sums prices. */
class Basket {
  constructor(prices) {
    this.prices = prices;
  }

  /** The sum, less a discount in per cent. */
  total(discount = 0) {
    const sum = this.prices.reduce((total, price) => total + price, 0);
    return (sum * (100 - discount)) / 100;
  }

  /** How many prices there are. */
  count() {
    return this.prices.length;
  }
}

module.exports = Basket;
