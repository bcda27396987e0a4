// Package cart sums prices.
package cart

// Summary tells of a cart.
type Summary struct {
	Count int
	Total int
}

// Total is the sum of the prices, less a discount in per cent.
func Total(prices []int, discount int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}

// Count is how many prices there are.
func Count(prices []int) int {
	return len(prices)
}

// Summarize gives both.
func Summarize(prices []int, discount int) Summary {
	return Summary{Count: Count(prices), Total: Total(prices, discount)}
}
