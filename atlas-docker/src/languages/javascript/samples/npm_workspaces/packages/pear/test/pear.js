const test = require('tape')
