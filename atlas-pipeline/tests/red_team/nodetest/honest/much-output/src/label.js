'use strict';

const line = 'debug '.repeat(20);
for (let i = 0; i < 3000; i += 1) {
  console.log(`${i} ${line}`);
}

/** A price in euros. */
function label(cents) {
  return `${(cents / 100).toFixed(2)} EUR`;
}

module.exports = { label };
