ENV["RAILS_ENV"] ||= "test"
require "rails/test_help"
