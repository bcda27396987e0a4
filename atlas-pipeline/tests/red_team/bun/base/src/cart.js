/** The sum of the prices, less a discount in per cent. */
export function total(prices, discount = 0) {
  return prices.reduce((sum, price) => sum + price, 0);
}

/** How many prices there are. */
export function count(prices) {
  return prices.length;
}

/** Both. */
export function summary(prices, discount = 0) {
  return { count: count(prices), total: total(prices, discount) };
}
