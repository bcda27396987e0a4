require_relative "helper"

class CoreTest < Minitest::Test
  def test_it
    assert true
  end
end
