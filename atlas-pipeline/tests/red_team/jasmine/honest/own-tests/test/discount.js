'use strict';

const Basket = require('../lib/basket');

it('of ten per cent', () => {
  expect(new Basket([100]).total(10)).toBe(90);
});
