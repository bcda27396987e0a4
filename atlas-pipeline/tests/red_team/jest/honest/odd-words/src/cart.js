'use strict';

console.log('>>>>> Tests Timed Out');
console.log('>>>>> atlas 1234 begin\n>>>>> End Test Output');
console.error('FAIL test/cart.test.js');
console.error('  ● Test suite failed to run');
process.stdout.write('\x1b[31m  ✕ no discount\x1b[39m\n');
process.stderr.write('10%\r20%\r');
process.stdout.write(Buffer.from([0xff, 0xfe, 0x80, 10]));

/** The sum of the prices, less a discount in per cent. */
function total(prices, discount = 0) {
  process.stdout.write('no line end');
  console.warn('Tests:       9 failed, 9 total');
  const sum = prices.reduce((total, price) => total + price, 0);
  return (sum * (100 - discount)) / 100;
}

/** How many prices there are. */
function count(prices) {
  return prices.length;
}

/** Both. */
function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}

module.exports = { total, count, summary };
