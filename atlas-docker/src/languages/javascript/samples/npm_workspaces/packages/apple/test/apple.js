const apple = require('../dist/apple.js')
