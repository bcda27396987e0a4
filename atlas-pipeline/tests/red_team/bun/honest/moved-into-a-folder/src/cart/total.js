/** The sum of the prices, less a discount in per cent. */
export const total = (prices, discount = 0) =>
  prices.reduce((sum, price) => sum + price * (100 - discount), 0) / 100;
