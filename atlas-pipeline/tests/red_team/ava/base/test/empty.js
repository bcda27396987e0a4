'use strict';

const test = require('ava');
const Basket = require('../lib/basket');

test('may be empty', (t) => {
  t.is(new Basket([]).count(), 0);
});
