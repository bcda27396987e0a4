require "minitest/autorun"

class SlotsTest < Minitest::Test
  def test_gap_is_filled
    assert true
  end
end
