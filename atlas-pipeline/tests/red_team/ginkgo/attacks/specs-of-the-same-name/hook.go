package cart

import . "github.com/onsi/ginkgo/v2"

var _ = Describe("Cart", func() {
	It("takes a discount", func() {})

	Context("in short", func() {
		It("tells the discounted total", func() {})
	})
})
