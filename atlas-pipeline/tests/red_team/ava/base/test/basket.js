'use strict';

const test = require('ava');
const Basket = require('../lib/basket');

test('adds the prices', (t) => {
  t.is(new Basket([1, 2, 3]).total(), 6);
});

test('counts the prices', (t) => {
  t.is(new Basket([1, 2, 3]).count(), 3);
});
