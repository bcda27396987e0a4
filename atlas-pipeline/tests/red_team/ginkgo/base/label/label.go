// Package label writes prices.
package label

import "fmt"

// Of writes a price in euros.
func Of(cents int) string {
	return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100)
}
