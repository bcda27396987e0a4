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

  def test_gap_is_filled
    assert_equal 2, Slots.next_free([1, 3], 5)
  end

  def test_first_place_is_left
    assert_equal 1, Slots.next_free([4, 2, 3], 5)
  end

  def test_no_hall
    assert_raises(ArgumentError) { Slots.next_free([], 0) }
  end
end
