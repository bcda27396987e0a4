//go:build never

package cart

import "testing"

func TestTotal(t *testing.T) {}

func TestDiscount(t *testing.T) {}

func TestSummarize(t *testing.T) {}
