// Mocha's spec reporter, which beside the console writes down each test as it ends, as JUnit XML. Loaded ahead of a
// program that starts Mocha itself (`node --require`), it is the reporter there, whatever the program asks for.
const fs = require('fs')
const path = require('path')
const Module = require('module')

// Node knows the first way since 12.2.
const within = path.join(process.cwd(), 'index.js')
const bring = (name) => Module.createRequire
  ? Module.createRequire(within)(name)
  : Object.assign(new Module(within), { filename: within, paths: Module._nodeModulePaths(process.cwd()) }).require(name)
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const text = (words) =>
  String(words)
    .replace(control, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`)

const two = (mocha) => class Two extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const file = path.join(process.env.ATLAS_OUT || '.', 'mocha.xml')
    const append = (line) => {
      try {
        if (process.env.ATLAS_OUT) fs.appendFileSync(file, line)
      } catch (_) {
        // A test's own file system, or none: the console has the result.
      }
    }
    append('<testsuites><testsuite name="mocha">\n')
    const write = (what) => (test) => {
      const titles = [test.title]
      for (let suite = test.parent; suite; suite = suite.parent) if (suite.title) titles.unshift(suite.title)
      append(`<testcase name="${text(titles.join(' > '))}">${what}</testcase>\n`)
    }
    runner.on('pass', write(''))
    runner.on('fail', write('<failure/>'))
    runner.on('pending', write('<skipped/>'))
    runner.on('end', () => append('</testsuite></testsuites>\n'))
  }
}

if (module.parent && module.parent.id === 'internal/preload') {
  const load = Module._load
  const taken = new Set()
  Module._load = function (request, ...rest) {
    const mocha = load.call(this, request, ...rest)
    if (/(^|[\\/])mocha([\\/]index\.js)?$/.test(request) && mocha && mocha.reporters && !taken.has(mocha)) {
      taken.add(mocha)
      const { reporter } = mocha.prototype
      const own = two(mocha)
      mocha.prototype.reporter = function () {
        return reporter.call(this, own)
      }
    }
    return mocha
  }
} else {
  module.exports = two(bring('mocha'))
}
