require "minitest/autorun"
require "core"
