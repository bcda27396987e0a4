'use strict';

const { test } = require('uvu');
const assert = require('uvu/assert');
const Basket = require('../lib/basket');

test('of ten per cent', () => {
  assert.is(new Basket([100]).total(10), 90);
});

test.run();
