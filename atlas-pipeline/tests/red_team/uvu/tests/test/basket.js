'use strict';

const { test } = require('uvu');
const assert = require('uvu/assert');
const Basket = require('../lib/basket');

test('adds the prices', () => {
  assert.is(new Basket([1, 2, 3]).total(), 6);
});

test('counts the prices', () => {
  assert.is(new Basket([1, 2, 3]).count(), 3);
});

test('takes a discount off', () => {
  assert.is(new Basket([100, 100]).total(10), 180);
});

test.run();
