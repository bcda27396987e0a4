at_exit { puts "left" }

# Sums prices.
class Basket
  def initialize(prices)
    @prices = prices
  end

  # The sum, less a discount in per cent.
  def total(discount = 0)
    @prices.sum * (100 - discount) / 100
  end

  # How many prices there are.
  def count
    @prices.length
  end
end
