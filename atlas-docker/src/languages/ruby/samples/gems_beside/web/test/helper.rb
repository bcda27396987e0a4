require "minitest/autorun"
require "web"
