'use strict';

const { total } = require('../src/cart');

describe('discount', () => {
  test.each([10, 20])('of %i per cent', (discount) => {
    expect(total([100], discount)).toBe(100 - discount);
  });
  test.failing('taxes', () => {
    expect(total([100], 0, 19)).toBe(119);
  });
  test.todo('gift cards');
});
