'use strict';

const assert = require('node:assert');
const { describe, it } = require('node:test');
const { count, summary, total } = require('../src/cart');

describe('cart', () => {
  it('adds the prices', () => {
    assert.strictEqual(total([1, 2, 3]), 6);
  });

  it('counts the prices', () => {
    assert.strictEqual(count([1, 2, 3]), 3);
  });

  it('takes a discount', () => {
    assert.strictEqual(total([100, 100], 10), 180);
  });

  it('tells the discounted total', () => {
    assert.deepStrictEqual(summary([100, 100], 10), { count: 2, total: 180 });
  });
});
