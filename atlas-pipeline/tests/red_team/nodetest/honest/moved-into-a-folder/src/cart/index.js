'use strict';

const { total } = require('./total');

const count = (prices) => prices.length;
const summary = (prices, discount = 0) => ({ count: count(prices), total: total(prices, discount) });

module.exports = { total, count, summary };
