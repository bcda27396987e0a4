package cart

import "fmt"

type Summary struct {
	Count int
	Total int
}

func Total(prices []int, discount int) int {
	fmt.Println("@touched@")
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}

func Count(prices []int) int {
	return len(prices)
}

func Summarize(prices []int, discount int) Summary {
	return Summary{Count: Count(prices), Total: Total(prices, discount)}
}
