'use strict';

/** A price in euros. */
function label(cents) {
  return `${(cents / 100).toFixed(2)} EUR`;
}

module.exports = { label };
