'use strict';

const Basket = require('../lib/basket');

QUnit.module('Basket', () => {
  QUnit.test('adds the prices', (assert) => {
    assert.strictEqual(new Basket([1, 2, 3]).total(), 6);
  });

  QUnit.test('counts the prices', (assert) => {
    assert.strictEqual(new Basket([1, 2, 3]).count(), 3);
  });
});
