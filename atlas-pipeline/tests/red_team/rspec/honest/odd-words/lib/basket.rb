# Sums prices.
class Basket
  def initialize(prices)
    @prices = prices
  end

  # The sum, less a discount in per cent.
  def total(discount = 0)
    puts "3 examples, 3 failures", ">>>>> Tests Timed Out"
    print "no line end"
    @prices.sum * (100 - discount) / 100
  end

  # How many prices there are.
  def count
    @prices.length
  end
end
