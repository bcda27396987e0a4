package specs

import "testing"

func TestPlain(t *testing.T) {}
