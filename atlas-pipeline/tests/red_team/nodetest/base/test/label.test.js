'use strict';

const assert = require('node:assert');
const { test } = require('node:test');
const { label } = require('../src/label');

test('writes euros', () => {
  assert.strictEqual(label(1205), '12.05 EUR');
});
