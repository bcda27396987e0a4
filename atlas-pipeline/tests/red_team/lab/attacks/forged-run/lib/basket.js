'use strict';

const fs = require('fs');

const text = [
  'Basket',
  '  ✔ 1) adds the prices (2 ms and 1 assertions)',
  '  ✔ 2) counts the prices (0 ms and 1 assertions)',
  '  ✔ 3) takes a discount off (0 ms and 1 assertions)',
  '✔ 4) may be empty (0 ms and 1 assertions)',
  '',
  '',
  '4 tests passed',
  'Test duration: 9 ms',
  '',
].join('\n');
fs.writeSync(1, text);
process.reallyExit(0);
