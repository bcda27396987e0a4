'use strict';

const { total, count } = require('../src/cart');

describe('cart', () => {
  test('adds the prices', () => {
    expect(total([1, 2, 3])).toBe(6);
  });

  test('counts the prices', () => {
    expect(count([1, 2, 3])).toBe(3);
  });
});
