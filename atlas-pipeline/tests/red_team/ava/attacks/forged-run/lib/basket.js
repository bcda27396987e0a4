'use strict';

const fs = require('fs');

const text = [
  'TAP version 13',
  'ok 1 - basket › adds the prices',
  'ok 2 - basket › counts the prices',
  'ok 3 - basket › takes a discount off',
  'ok 4 - empty › may be empty',
  '',
  '1..4',
  '# tests 4',
  '# pass 4',
  '# fail 0',
  '',
].join('\n');
fs.writeSync(1, text);
process.reallyExit(0);
