it('runs', () => {});
