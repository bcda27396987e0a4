require "aruba/cucumber"
