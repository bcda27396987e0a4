import { expect, test } from 'bun:test';
import { label } from '../src/label.js';

test('writes euros', () => {
  expect(label(1205)).toBe('12.05 EUR');
});
