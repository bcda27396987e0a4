'use strict';
// Playwright's own JUnit report has no failures that are expected. Beside another reporter, this writes down what each
// test came to, as JUnit XML.
const fs = require('fs');
const path = require('path');

const place = process.env.ATLAS_OUT && path.join(path.resolve(process.env.ATLAS_OUT), 'playwright.xml');
const text = (words) =>
  words
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);

module.exports = class Two {
  printsToStdio() {
    return false;
  }

  onBegin(...given) {
    // The first versions give the configuration before the tests; it has none.
    this.suite = given.find((one) => one && typeof one.allTests === 'function');
  }

  onEnd() {
    if (!place || !this.suite) return;
    const lines = ['<testsuite name="playwright">'];
    for (const test of this.suite.allTests()) {
      const outcome = test.outcome();
      const isIdle = outcome === 'skipped' || (outcome === 'expected' && test.expectedStatus === 'failed');
      const what = isIdle ? '<skipped/>' : outcome === 'unexpected' ? '<failure/>' : '';
      const titles = test.titlePath().filter(Boolean);
      lines.push(`<testcase name="${text(titles.join(' › '))}">${what}</testcase>`);
    }
    try {
      fs.appendFileSync(place, `${lines.join('\n')}\n</testsuite>\n`);
    } catch (_) {
      // The console has the result.
    }
  }
};
