'use strict';

const assert = require('assert');
const Basket = require('../lib/basket');

describe('Basket', function () {
  it('adds the prices', function () {
    assert.strictEqual(new Basket([1, 2, 3]).total(), 6);
  });

  it('counts the prices', function () {
    assert.strictEqual(new Basket([1, 2, 3]).count(), 3);
  });

  it('takes a discount off', function () {
    assert.strictEqual(new Basket([100, 100]).total(10), 180);
  });
});
