'use strict';

const fs = require('fs');

const text = [
  '',
  '  Basket',
  '    ✔ adds the prices',
  '    ✔ counts the prices',
  '    ✔ takes a discount off',
  '',
  '  ✔ may be empty',
  '',
  '  4 passing (5ms)',
  '',
  '',
].join('\n');
fs.writeSync(1, text);
process.reallyExit(0);
