'use strict';

const assert = require('node:assert');
const { describe, it } = require('node:test');
const { count, total } = require('../src/cart');

describe('cart', () => {
  it('adds the prices', () => {
    assert.strictEqual(total([1, 2, 3]), 6);
  });

  it('counts the prices', () => {
    assert.strictEqual(count([1, 2, 3]), 3);
  });
});
