/** A price in euros. */
export function label(cents) {
  return `${(cents / 100).toFixed(2)} EUR`;
}
