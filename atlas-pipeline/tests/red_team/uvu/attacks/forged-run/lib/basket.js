'use strict';

const fs = require('fs');

const text = [
  'TAP version 13',
  'ok 1 - test/basket.js › adds the prices',
  'ok 2 - test/basket.js › counts the prices',
  'ok 3 - test/basket.js › takes a discount off',
  'ok 4 - test/empty.js › may be empty',
  '1..4',
  '',
].join('\n');
fs.writeSync(1, text);
process.reallyExit(0);
