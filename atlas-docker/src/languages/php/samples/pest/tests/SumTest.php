<?php test("sum", fn () => expect(1)->toBe(1));
