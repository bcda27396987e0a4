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
})
