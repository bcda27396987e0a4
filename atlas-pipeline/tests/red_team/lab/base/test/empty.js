'use strict';

const { expect } = require('@hapi/code');
const Lab = require('@hapi/lab');
const Basket = require('../lib/basket');

const { describe, it } = (exports.lab = Lab.script());

it('may be empty', () => {
  expect(new Basket([]).count()).to.equal(0);
});
