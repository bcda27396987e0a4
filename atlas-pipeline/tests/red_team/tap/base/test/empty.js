'use strict';

const { test } = require('tap');
const Basket = require('../lib/basket');

test('may be empty', (t) => {
  t.equal(new Basket([]).count(), 0);
  t.end();
});
