'use strict';
// uvu names only the tests that fail. Loaded before the tests, this prints TAP when the process
// ends: one point a test, named file › suite › title. Each is written down as it ends, too, as JUnit XML.
const path = require('path');
const { appendFileSync } = require('fs');

const place = process.env.ATLAS_OUT && path.join(path.resolve(process.env.ATLAS_OUT), 'uvu.xml');
const text = (words) =>
  words
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const points = [];
function note(status, name, why, mark) {
  const title = name.replace(/\s+/g, ' ');
  points.push([status, title, why, mark]);
  const what = status === 'not ok' ? '<failure/>' : mark ? '<skipped/>' : '';
  try {
    const begin = points.length > 1 ? '' : '<testsuite name="uvu">\n';
    if (place) appendFileSync(place, `${begin}<testcase name="${text(title)}">${what}</testcase>\n`);
  } catch (_) {
    // The console has the result.
  }
}
let uvu;
try {
  uvu = require(require.resolve('uvu', { paths: [process.cwd()] }));
} catch (_) {
  uvu = undefined;
}

function caller() {
  for (const line of String(new Error().stack).split('\n').slice(1)) {
    const found = /\(?((?:file:\/\/)?\/[^():]+):\d+:\d+\)?$/.exec(line);
    if (!found) continue;
    const file = found[1].replace('file://', '');
    if (file !== __filename && !/node_modules\/(uvu|ts-node|tsm|esbuild)/.test(file)) {
      return path.relative(process.cwd(), file);
    }
  }
  return '';
}

function wrapped(suite, test) {
  const title = (name) => [caller(), suite, name].filter(Boolean).join(' › ');
  const watched = (name, handler) => {
    const full = title(name);
    return async (...args) => {
      try {
        await handler(...args);
        note('ok', full);
      } catch (why) {
        note('not ok', full, why);
        throw why;
      }
    };
  };
  const made = (name, handler) => test(name, watched(name, handler));
  Object.assign(made, test);
  made.test = made;
  made.only = (name, handler) => test.only(name, watched(name, handler));
  made.skip = (name, ...rest) => {
    if (name) note('ok', title(name), undefined, ' # SKIP');
    return test.skip(name, ...rest);
  };
  return made;
}

if (uvu && uvu.suite && uvu.test) {
  const { suite, test } = uvu;
  uvu.suite = (name = '', ...rest) => wrapped(name, suite(name, ...rest));
  uvu.test = wrapped('', test);
}

process.on('exit', () => {
  if (points.length === 0) return;
  const lines = ['', 'TAP version 13'];
  points.forEach(([status, name, why, mark = ''], at) => {
    lines.push(`${status} ${at + 1} - ${name.replace(/#/g, '\\#')}${mark}`);
    if (why !== undefined) {
      for (const line of String((why && why.stack) || why).split('\n')) lines.push(`# ${line}`);
    }
  });
  lines.push(`1..${points.length}`, '');
  require('fs').writeSync(1, lines.join('\n'));
});
