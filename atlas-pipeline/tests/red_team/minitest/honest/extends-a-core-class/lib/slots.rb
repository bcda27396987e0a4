class Array
  def taken?(place)
    include?(place)
  end
end
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
