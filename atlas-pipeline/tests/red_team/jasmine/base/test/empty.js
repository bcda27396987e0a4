'use strict';

const Basket = require('../lib/basket');

it('may be empty', () => {
  expect(new Basket([]).count()).toBe(0);
});
