'use strict';

const test = require('ava');
const Basket = require('../lib/basket');

test('adds the prices', (t) => {
  t.is(new Basket([1, 2, 3]).total(), 6);
});

test('counts the prices', (t) => {
  t.is(new Basket([1, 2, 3]).count(), 3);
});

test('takes a discount off', (t) => {
  t.is(new Basket([100, 100]).total(10), 180);
});
