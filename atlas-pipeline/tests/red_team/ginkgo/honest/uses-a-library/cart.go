// Package cart sums prices.
package cart

import "github.com/google/go-cmp/cmp"

// Summary tells of a cart.
type Summary struct {
	Count int
	Total int
}

// Equal tells whether two are the same.
func (summary Summary) Equal(other Summary) bool {
	return cmp.Equal(summary.Count, other.Count) && cmp.Equal(summary.Total, other.Total)
}

// Total is the sum of the prices, less a discount in per cent.
func Total(prices []int, discount int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum * (100 - discount) / 100
}

// Count is how many prices there are.
func Count(prices []int) int {
	return len(prices)
}

// Summarize gives both.
func Summarize(prices []int, discount int) Summary {
	return Summary{Count: Count(prices), Total: Total(prices, discount)}
}
