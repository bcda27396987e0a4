'use strict';

const { expect } = require('@hapi/code');
const Lab = require('@hapi/lab');
const Basket = require('../lib/basket');

const { describe, it } = (exports.lab = Lab.script());

describe('Basket', () => {
  it('adds the prices', () => {
    expect(new Basket([1, 2, 3]).total()).to.equal(6);
  });

  it('counts the prices', () => {
    expect(new Basket([1, 2, 3]).count()).to.equal(3);
  });
});
