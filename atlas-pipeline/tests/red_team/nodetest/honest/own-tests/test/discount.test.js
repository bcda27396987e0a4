'use strict';

const assert = require('node:assert');
const { describe, it, test } = require('node:test');
const { total } = require('../src/cart');

describe('discount', () => {
  for (const discount of [10, 20]) {
    it(`of ${discount} per cent`, () => assert.equal(total([100], discount), 100 - discount));
  }
  it('taxes', { todo: true }, () => assert.equal(total([100], 0, 19), 119));
  it('gift cards', { skip: 'later' });
});

test('has taxes', () => {
  assert.equal(1, 2);
});
