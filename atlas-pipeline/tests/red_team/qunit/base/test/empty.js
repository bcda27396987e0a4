'use strict';

const Basket = require('../lib/basket');

QUnit.test('may be empty', (assert) => {
  assert.strictEqual(new Basket([]).count(), 0);
});
