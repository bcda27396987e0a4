// Package tax adds taxes.
package tax

// Add adds so many per cent.
func Add(price, tax int) int {
	return price * (100 + tax) / 100
}
