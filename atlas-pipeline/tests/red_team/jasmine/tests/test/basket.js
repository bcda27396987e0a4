'use strict';

const Basket = require('../lib/basket');

it('adds the prices', () => {
  expect(new Basket([1, 2, 3]).total()).toBe(6);
});

it('counts the prices', () => {
  expect(new Basket([1, 2, 3]).count()).toBe(3);
});

it('takes a discount off', () => {
  expect(new Basket([100, 100]).total(10)).toBe(180);
});
