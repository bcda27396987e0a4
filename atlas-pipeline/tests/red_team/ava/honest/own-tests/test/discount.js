'use strict';

const test = require('ava');
const Basket = require('../lib/basket');

test('of ten per cent', (t) => {
  t.is(new Basket([100]).total(10), 90);
});
