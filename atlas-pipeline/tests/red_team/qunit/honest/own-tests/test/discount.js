'use strict';

const Basket = require('../lib/basket');

QUnit.test('of ten per cent', (assert) => {
  assert.strictEqual(new Basket([100]).total(10), 90);
});
