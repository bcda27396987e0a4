module.exports = { testEnvironment: './environment.js', reporters: ['./reporter.js'] };
