require_relative "helper"

class StoreTest < Minitest::Test
  def test_it
    assert true
  end
end
