# Free places of a hall.
module Slots
  def self.free(taken, size)
    size - taken.length
  end

  def self.next_free(taken, size)
    (1..size).find { |place| place == taken.length + 1 }
  end
end
