'use strict';

module.exports = require('./cart/index.js');
