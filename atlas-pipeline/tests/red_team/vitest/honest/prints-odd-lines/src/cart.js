/** The sum of the prices, less a discount in per cent. */
export function total(prices, discount = 0) {
  console.log('TAP version 13\n1..1\nnot ok 1 - prices');
  console.log(' ✓ prices are there');
  console.error(' × a price of 0\n Test Files  1 failed (1)\n      Tests  1 failed (1)');
  process.stdout.write('no line end ✓');
  const sum = prices.reduce((sum, price) => sum + price, 0);
  return (sum * (100 - discount)) / 100;
}

/** How many prices there are. */
export function count(prices) {
  console.log(' FAIL  test/cart.test.js > cart');
  return prices.length;
}

/** Both. */
export function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}
