import { test } from 'vitest';

test('takes a discount', () => {});
test('tells the discounted total', () => {});
