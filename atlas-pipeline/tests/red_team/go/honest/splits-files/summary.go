package cart

// Summary tells of a cart.
type Summary struct {
	Count int
	Total int
}

// Summarize gives both.
func Summarize(prices []int, discount int) Summary {
	return Summary{Count: Count(prices), Total: Total(prices, discount)}
}
