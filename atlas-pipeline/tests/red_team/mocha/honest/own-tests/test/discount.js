'use strict';

const assert = require('assert');
const Basket = require('../lib/basket');

describe('discounts', function () {
  for (const discount of [10, 20]) {
    it(`of ${discount} per cent`, function () {
      assert.strictEqual(new Basket([100]).total(discount), 100 - discount);
    });
  }
  it('taxes');
  it.skip('gift cards', function () {});
});
