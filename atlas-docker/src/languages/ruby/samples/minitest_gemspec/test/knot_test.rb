require "helper"

class KnotTest < Minitest::Test
  def test_one
    assert true
  end
end
