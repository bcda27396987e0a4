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

func TestDiscount(t *testing.T) {
	if got := Total([]int{100, 100}, 10); got != 180 {
		t.Errorf("got %d, want 180", got)
	}
}

func TestSummarize(t *testing.T) {
	got := Summarize([]int{100, 100}, 10)
	want := Summary{Count: 2, Total: 180}
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
