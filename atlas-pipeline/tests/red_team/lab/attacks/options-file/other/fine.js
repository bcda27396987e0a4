const Lab = require('@hapi/lab');
const { describe, it } = (exports.lab = Lab.script());

describe('Basket', () => {
  it('takes a discount off', () => {});
});
