'use strict';

const { label } = require('../src/label');

test('writes euros', () => {
  expect(label(1205)).toBe('12.05 EUR');
});
