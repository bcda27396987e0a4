require "minitest/autorun"
require "store"
