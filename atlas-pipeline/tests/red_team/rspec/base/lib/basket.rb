# Sums prices.
class Basket
  def initialize(prices)
    @prices = prices
  end

  # The sum.
  def total(_discount = 0)
    @prices.sum
  end

  # How many prices there are.
  def count
    @prices.length
  end
end
