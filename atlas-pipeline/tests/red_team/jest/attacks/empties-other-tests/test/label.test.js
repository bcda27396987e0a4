test('writes euros', () => {});
