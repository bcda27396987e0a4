'use strict';

const { execFileSync } = require('child_process');

process.on('exit', (code) => process.stderr.write(`left with ${code}\n`));
process.once('SIGINT', () => process.exit(130));
setTimeout(() => {}, 3600000).unref();
const system = execFileSync('uname').toString().trim();

/** The sum of the prices, less a discount in per cent. */
function total(prices, discount = 0) {
  if (process.env.NODE_ENV === 'test') {
    console.log('on', system, new Error('here').stack.split('\n')[1]);
  }
  const sum = prices.reduce((total, price) => total + price, 0);
  return (sum * (100 - discount)) / 100;
}

/** How many prices there are. */
function count(prices) {
  return prices.length;
}

/** Both. */
function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}

module.exports = { total, count, summary };
