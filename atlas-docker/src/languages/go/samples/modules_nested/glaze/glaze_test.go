package glaze

import "testing"

func TestCoat(t *testing.T) {}
