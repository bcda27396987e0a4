'use strict';

module.exports = require('.').Basket;
