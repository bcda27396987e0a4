require_relative "slots/search"
