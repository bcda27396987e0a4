package kettle

import "testing"

func TestBoil(t *testing.T) {}
