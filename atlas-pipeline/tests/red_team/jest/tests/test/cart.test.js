'use strict';

const { total, count, summary } = require('../src/cart');

describe('cart', () => {
  test('adds the prices', () => {
    expect(total([1, 2, 3])).toBe(6);
  });

  test('counts the prices', () => {
    expect(count([1, 2, 3])).toBe(3);
  });

  test('tells the discounted total', () => {
    expect(summary([100, 100], 10)).toEqual({ count: 2, total: 180 });
  });
});
