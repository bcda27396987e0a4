// Package cart sums prices.
package cart

import "example.com/cart/internal/sum"

// Summary tells of a cart.
type Summary struct {
	Count, Total int
}

// Total is the sum of the prices, less a discount in per cent.
func Total(prices []int, discount int) int {
	return sum.Of(prices) * (100 - discount) / 100
}

// Count is how many prices there are.
func Count(prices []int) int {
	return len(prices)
}

// Summarize gives both.
func Summarize(prices []int, discount int) Summary {
	return Summary{Count(prices), Total(prices, discount)}
}
