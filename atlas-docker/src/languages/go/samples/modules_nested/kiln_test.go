package kiln

import "testing"

func TestFire(t *testing.T) {}
