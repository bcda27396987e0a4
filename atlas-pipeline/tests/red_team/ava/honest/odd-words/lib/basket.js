'use strict';

console.log('>>>>> Tests Timed Out');
console.log('>>>>> atlas 1234 end 1');
console.log('# fail 3');
process.stdout.write('\x1b[31mno discount\x1b[0m\n10%\r20%\r');
process.stdout.write(Buffer.from([0xff, 0xfe, 0x80, 10]));

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
