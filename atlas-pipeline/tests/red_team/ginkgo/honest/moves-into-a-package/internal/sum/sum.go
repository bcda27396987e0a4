// Package sum adds numbers.
package sum

// Of is the sum of the numbers.
func Of(numbers []int) (sum int) {
	for _, number := range numbers {
		sum += number
	}
	return sum
}
