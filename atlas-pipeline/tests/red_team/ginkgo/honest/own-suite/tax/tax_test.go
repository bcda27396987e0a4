package tax_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.com/cart/tax"
)

func TestTax(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Tax")
}

var _ = Describe("Tax", func() {
	It("adds to the price", func() {
		Expect(tax.Add(100, 19)).To(Equal(119))
	})

	It("is not there yet in some countries", func() {
		Expect(tax.Add(100, 19)).To(Equal(100))
	})
})
