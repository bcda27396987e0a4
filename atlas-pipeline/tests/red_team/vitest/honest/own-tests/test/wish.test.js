import { expect, test } from 'vitest';

test('has taxes', () => {
  expect(1).toBe(2);
});
