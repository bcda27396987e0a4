'use strict';
// Jasmine's own reporter prints a dot for a spec. As a helper, this adds a TAP point.
let number = 0;
const print = (line) => process.stdout.write(`\n${line}\n`);
jasmine.getEnv().addReporter({
  jasmineStarted: () => print('TAP version 13'),
  specDone(spec) {
    if (spec.status === 'excluded') return;
    number += 1;
    const name = spec.fullName.replace(/\s+/g, ' ').replace(/#/g, '\\#');
    const skipped = spec.status === 'pending' || spec.status === 'disabled' ? ' # SKIP' : '';
    print(`${spec.status === 'failed' ? 'not ok' : 'ok'} ${number} - ${name}${skipped}`);
    for (const failed of spec.failedExpectations || []) {
      for (const line of String(failed.stack || failed.message).split('\n')) print(`# ${line}`);
    }
  },
  jasmineDone: () => print(`1..${number}`),
});
