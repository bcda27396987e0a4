'use strict';

const total = (prices, discount = 0) => (prices.reduce((sum, price) => sum + price, 0) * (100 - discount)) / 100;
const count = (prices) => prices.length;
const summary = (prices, discount) => Object.assign({}, { count: count(prices) }, { total: total(prices, discount) });

exports.total = total;
exports.count = count;
exports.summary = summary;
