package cart

import "testing"

func TestDiscount(t *testing.T) {
	for _, discount := range []int{10, 20} {
		if Total([]int{100}, discount) != 100-discount {
			t.Error(discount)
		}
	}
}
