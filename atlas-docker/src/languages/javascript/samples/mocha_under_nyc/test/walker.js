it("walks", () => {});
