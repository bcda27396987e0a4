import { test } from 'bun:test';

test('takes a discount', () => {});
