// With a hundred times as much, a busy machine has torn the runner's own lines.
const line = 'debug '.repeat(20);
for (let i = 0; i < 200; i += 1) {
  process.stdout.write(`${i} ${line}\n`);
}

/** A price in euros. */
export function label(cents) {
  return `${(cents / 100).toFixed(2)} EUR`;
}
