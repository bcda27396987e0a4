import { describe, expect, test } from 'bun:test';
import { total } from '../src/cart.js';

describe('discount', () => {
  test.each([10, 20])('of %i per cent', (discount) => {
    expect(total([100], discount)).toBe(100 - discount);
  });
  test.failing('taxes', () => {
    expect(total([100], 0, 19)).toBe(119);
  });
  test.todo('gift cards');
  test('of no price\nand no discount', () => {
    expect(total([])).toBe(0);
  });
});
