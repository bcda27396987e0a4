import { execFileSync } from 'node:child_process';

process.on('exit', () => console.log('bye'));
process.on('SIGINT', () => process.exit(130));
setTimeout(() => {}, 3600000).unref();
export const system = execFileSync('uname').toString().trim();

/** The sum of the prices, less a discount in per cent. */
export function total(prices, discount = 0) {
  const sum = prices.reduce((sum, price) => sum + price, 0);
  return (sum * (100 - discount)) / 100;
}

/** How many prices there are. */
export function count(prices) {
  return prices.length;
}

/** Both. */
export function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}
