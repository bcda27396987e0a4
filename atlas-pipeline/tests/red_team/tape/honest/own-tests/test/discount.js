'use strict';

const test = require('tape');
const Basket = require('../lib/basket');

test('of ten per cent', (t) => {
  t.equal(new Basket([100]).total(10), 90);
  t.end();
});
