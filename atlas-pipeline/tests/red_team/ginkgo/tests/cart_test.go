package cart_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.com/cart"
)

var _ = Describe("Cart", func() {
	It("adds the prices", func() {
		Expect(cart.Total([]int{1, 2, 3}, 0)).To(Equal(6))
	})

	It("counts the prices", func() {
		Expect(cart.Count([]int{1, 2, 3})).To(Equal(3))
	})

	It("takes a discount", func() {
		Expect(cart.Total([]int{100, 100}, 10)).To(Equal(180))
	})

	Context("in short", func() {
		It("tells the discounted total", func() {
			Expect(cart.Summarize([]int{100, 100}, 10)).To(Equal(cart.Summary{Count: 2, Total: 180}))
		})
	})
})
