test("loads", () => {});
