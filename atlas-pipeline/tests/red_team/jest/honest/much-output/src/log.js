'use strict';

const line = 'debug '.repeat(20);
for (let i = 0; i < 40000; i += 1) {
  process.stdout.write(`${i} ${line}\n`);
}
