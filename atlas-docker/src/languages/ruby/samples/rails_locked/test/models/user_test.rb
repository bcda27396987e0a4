require "test_helper"

class UserTest < ActiveSupport::TestCase
  test("one") { assert true }
end
