package cart

import "testing"

func TestTotal(t *testing.T) {
	if got := Total([]int{1, 2, 3}, 0); got != 6 {
		t.Errorf("got %d, want 6", got)
	}
}

func TestCount(t *testing.T) {
	if got := Count([]int{1, 2, 3}); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
}
