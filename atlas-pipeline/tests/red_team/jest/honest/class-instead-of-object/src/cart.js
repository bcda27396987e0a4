'use strict';

class Summary {
  constructor(count, total) {
    this.count = count;
    this.total = total;
  }

  toJSON() {
    return { ...this };
  }

  [Symbol.toPrimitive]() {
    return this.total;
  }
}

function total(prices, discount = 0) {
  return (prices.reduce((sum, price) => sum + price, 0) * (100 - discount)) / 100;
}

const count = (prices) => prices.length;

module.exports = { total, count, summary: (prices, discount) => new Summary(count(prices), total(prices, discount)) };
