'use strict';

const assert = require('assert');
const Basket = require('../lib/basket');

it('may be empty', function () {
  assert.strictEqual(new Basket([]).count(), 0);
});
