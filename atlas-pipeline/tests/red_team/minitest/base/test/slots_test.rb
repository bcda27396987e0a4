require "minitest/autorun"
require "slots"

class SlotsTest < Minitest::Test
  def test_free_places
    assert_equal 3, Slots.free([1, 2], 5)
  end

  def test_next_place_in_order
    assert_equal 3, Slots.next_free([1, 2], 5)
  end

  def test_full_hall
    assert_nil Slots.next_free([1, 2], 2)
  end
end
