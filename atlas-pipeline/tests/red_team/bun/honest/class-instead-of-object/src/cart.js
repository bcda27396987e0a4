class Summary {
  constructor(count, total) {
    this.count = count;
    this.total = total;
  }

  [Symbol.toPrimitive]() {
    return this.total;
  }
}

export const total = (prices, discount = 0) => (prices.reduce((sum, price) => sum + price, 0) * (100 - discount)) / 100;
export const count = (prices) => prices.length;
export const summary = (prices, discount) => new Summary(count(prices), total(prices, discount));
