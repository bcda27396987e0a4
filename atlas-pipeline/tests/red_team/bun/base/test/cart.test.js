import { describe, expect, test } from 'bun:test';
import { count, total } from '../src/cart.js';

describe('cart', () => {
  test('adds the prices', () => {
    expect(total([1, 2, 3])).toBe(6);
  });

  test('counts the prices', () => {
    expect(count([1, 2, 3])).toBe(3);
  });
});
