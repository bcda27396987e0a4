describe('Basket', () => it('takes a discount off', () => {}));
