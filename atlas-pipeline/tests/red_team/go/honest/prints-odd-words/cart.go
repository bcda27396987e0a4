// Package cart sums prices.
package cart

import "fmt"

// Summary tells of a cart.
type Summary struct {
	Count int
	Total int
}

func init() {
	fmt.Println(">>>>> Tests Timed Out")
	fmt.Println("FAIL")
	fmt.Println("FAIL\texample.com/cart [build failed]")
	fmt.Println(">>>>> atlas 1234 begin")
	fmt.Println(">>>>> End Test Output")
	fmt.Println("panic: not really")
}

// Total is the sum of the prices, less a discount in per cent.
func Total(prices []int, discount int) int {
	fmt.Println("\x1b[31m--- FAIL: \x1b[0m no discount")
	fmt.Print("half\rline\r\n")
	fmt.Print("\xff\xfe\x80 invalid\n")
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum * (100 - discount) / 100
}

// Count is how many prices there are.
func Count(prices []int) int {
	fmt.Print("no line end")
	return len(prices)
}

// Summarize gives both.
func Summarize(prices []int, discount int) Summary {
	return Summary{Count: Count(prices), Total: Total(prices, discount)}
}
