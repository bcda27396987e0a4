import { describe, expect, test } from 'bun:test';
import { count, summary, total } from '../src/cart.js';

describe('cart', () => {
  test('adds the prices', () => {
    expect(total([1, 2, 3])).toBe(6);
  });

  test('counts the prices', () => {
    expect(count([1, 2, 3])).toBe(3);
  });

  test('takes a discount', () => {
    expect(total([100, 100], 10)).toBe(180);
  });

  test('tells the discounted total', () => {
    expect(summary([100, 100], 10)).toEqual({ count: 2, total: 180 });
  });
});
