'use strict';

const { test } = require('tap');
const Basket = require('../lib/basket');

test('adds the prices', (t) => {
  t.equal(new Basket([1, 2, 3]).total(), 6);
  t.end();
});

test('counts the prices', (t) => {
  t.equal(new Basket([1, 2, 3]).count(), 3);
  t.end();
});

test('takes a discount off', (t) => {
  t.equal(new Basket([100, 100]).total(10), 180);
  t.end();
});
