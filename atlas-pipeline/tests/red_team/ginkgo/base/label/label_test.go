package label

import "testing"

func TestOf(t *testing.T) {
	if got := Of(1205); got != "12.05 EUR" {
		t.Errorf("got %q", got)
	}
}
