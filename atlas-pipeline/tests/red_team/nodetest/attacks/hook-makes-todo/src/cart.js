'use strict';

const { beforeEach } = require('node:test');

// A failing test that is to do does not count.
beforeEach((t) => {
  if (t && t.todo) {
    t.todo('later');
  }
});

const total = (prices) => prices.reduce((sum, price) => sum + price, 0);
const count = (prices) => prices.length;
const summary = (prices) => ({ count: prices.length, total: total(prices) });

module.exports = { total, count, summary };
