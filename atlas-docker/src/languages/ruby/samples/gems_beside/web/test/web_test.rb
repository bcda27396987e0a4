require_relative "helper"

class WebTest < Minitest::Test
  def test_it
    assert true
  end
end
