'use strict';
// Jasmine's own reporter prints a dot for a spec. As a helper, this adds a TAP point, and writes each spec down as it
// ends, as JUnit XML.
const path = require('path');
const { appendFileSync } = require('fs');

const place = process.env.ATLAS_OUT && path.join(path.resolve(process.env.ATLAS_OUT), 'jasmine.xml');
const append = (line) => {
  try {
    if (place) appendFileSync(place, line);
  } catch (_) {
    // The console has the result.
  }
};
const text = (words) =>
  words
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

let number = 0;
const print = (line) => process.stdout.write(`\n${line}\n`);
jasmine.getEnv().addReporter({
  jasmineStarted() {
    print('TAP version 13');
    append('<testsuite name="jasmine">\n');
  },
  specDone(spec) {
    if (spec.status === 'excluded') return;
    number += 1;
    const name = spec.fullName.replace(/\s+/g, ' ');
    const isSkipped = spec.status === 'pending' || spec.status === 'disabled';
    const hasFailed = spec.status === 'failed';
    const point = name.replace(/#/g, '\\#');
    print(`${hasFailed ? 'not ok' : 'ok'} ${number} - ${point}${isSkipped ? ' # SKIP' : ''}`);
    append(`<testcase name="${text(name)}">${hasFailed ? '<failure/>' : isSkipped ? '<skipped/>' : ''}</testcase>\n`);
    for (const failed of spec.failedExpectations || []) {
      for (const line of String(failed.stack || failed.message).split('\n')) print(`# ${line}`);
    }
  },
  jasmineDone: () => print(`1..${number}`),
});
