// Package cart sums prices.
package cart

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
