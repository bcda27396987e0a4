'use strict';
// AVA has one reporter at a time. Loaded into its main process, this writes down each test as it ends, too, as JUnit XML.
const fs = require('fs');
const path = require('path');
let isMainThread = true;
try {
  ({ isMainThread } = require('worker_threads'));
} catch (_) {
  // A Node without threads.
}

const { appendFileSync } = fs;
const place = process.env.ATLAS_OUT && path.join(path.resolve(process.env.ATLAS_OUT), 'ava.xml');
// Nobody else is to load it: not the tests, nor what they start.
const own = (process.env.NODE_OPTIONS || '').replace(/(^| )--require[= ]"?[^ "]*\/ava-two\.cjs"?/, '').trim();
if (own) process.env.NODE_OPTIONS = own;
else delete process.env.NODE_OPTIONS;

const text = (words) =>
  String(words)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const append = (line) => {
  try {
    appendFileSync(place, line);
  } catch (_) {
    // The console has the result.
  }
};

function listen(RunStatus) {
  append('<testsuite name="ava">\n');
  const { emitStateChange } = RunStatus.prototype;
  RunStatus.prototype.emitStateChange = function (event) {
    const done = emitStateChange.call(this, event);
    // Titles have their file in front where there are several, as on the console.
    const write = (file, title, what) => {
      const prefix = this.stats.files > 1 ? `${path.relative(process.cwd(), file)} › ` : '';
      append(`<testcase name="${text(prefix + title)}">${what}</testcase>\n`);
    };
    switch (event.type) {
      case 'test-passed':
        write(event.testFile, event.title, '');
        break;
      case 'test-failed':
      case 'hook-failed':
        write(event.testFile, event.title, '<failure/>');
        break;
      case 'selected-test':
        if (event.skip || event.todo) write(event.testFile, event.title, '<skipped/>');
        break;
      case 'process-exit':
      case 'timeout':
        for (const [file, titles] of event.pendingTests || []) {
          for (const title of titles) write(file, title, '<failure/>');
        }
        break;
      default:
    }
    return done;
  };
}

// The main process is started by AVA's command; its tests by files of other names.
const entry = (process.argv[1] || '').replace(/\\/g, '/');
if (place && isMainThread && /(^|\/)(ava|ava\/cli\.js|ava\/entrypoints\/cli\.mjs)$/.test(entry)) {
  try {
    const real = fs.realpathSync(entry);
    const status = path.join(real.slice(0, real.lastIndexOf(`${path.sep}ava${path.sep}`)), 'ava', 'lib', 'run-status.js');
    if (/"type"\s*:\s*"module"/.test(fs.readFileSync(path.join(status, '../../package.json'), 'utf8'))) {
      // Written as text: an older Node does not load a file that has the word.
      const bring = new Function('address', 'return import(address)');
      bring(require('url').pathToFileURL(status)).then((module) => listen(module.default), () => {});
    } else listen(require(status));
  } catch (_) {
    // Another lay-out of AVA's files: the console alone is read.
  }
}
