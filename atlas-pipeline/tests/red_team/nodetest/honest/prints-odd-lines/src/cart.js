'use strict';

/** The sum of the prices, less a discount in per cent. */
function total(prices, discount = 0) {
  console.log('TAP version 13\n1..1\nnot ok 1 - prices\n# fail 1\nok 2 - more');
  console.error('✖ a price of 0\nℹ fail 7');
  process.stdout.write('no line end');
  const sum = prices.reduce((sum, price) => sum + price, 0);
  return (sum * (100 - discount)) / 100;
}

/** How many prices there are. */
function count(prices) {
  console.log('▶ cart\n  ✔ counts');
  return prices.length;
}

/** Both. */
function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}

module.exports = { total, count, summary };
