'use strict';

const { expect } = require('@hapi/code');
const Lab = require('@hapi/lab');
const Basket = require('../lib/basket');

const { describe, it } = (exports.lab = Lab.script());

it('of ten per cent', () => {
  expect(new Basket([100]).total(10)).to.equal(90);
});
