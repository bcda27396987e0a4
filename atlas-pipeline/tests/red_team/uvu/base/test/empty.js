'use strict';

const { test } = require('uvu');
const assert = require('uvu/assert');
const Basket = require('../lib/basket');

test('may be empty', () => {
  assert.is(new Basket([]).count(), 0);
});

test.run();
