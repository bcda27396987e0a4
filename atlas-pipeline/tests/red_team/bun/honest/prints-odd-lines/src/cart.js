/** The sum of the prices, less a discount in per cent. */
export function total(prices, discount = 0) {
  console.log('TAP version 13\n1..1\nnot ok 1 - prices');
  console.log('prices are there\nbun test v0.0.0');
  console.error('error: a price of 0\n 0 pass\n 1 fail');
  process.stdout.write('no line end, pass');
  const sum = prices.reduce((sum, price) => sum + price, 0);
  return (sum * (100 - discount)) / 100;
}

/** How many prices there are. */
export function count(prices) {
  console.log('\ntest/prices.test.js:\n(fail)');
  return prices.length;
}

/** Both. */
export function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}
