it('has taxes', function () {
  throw new Error('not yet');
});
