'use strict';

const { test } = require('node:test');

test('quick', () => {
  process.kill(process.ppid, 'SIGINT');
  process.exit(0);
});
