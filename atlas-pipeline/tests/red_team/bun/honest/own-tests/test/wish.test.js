import { expect, test } from 'bun:test';

test('has taxes', () => {
  expect(1).toBe(2);
});
