test("grows", () => {});
