package cart_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.com/cart"
)

var _ = Describe("Discounts", func() {
	DescribeTable("of so many per cent",
		func(discount, total int) {
			Expect(cart.Total([]int{100}, discount)).To(Equal(total))
		},
		Entry("none", 0, 100),
		Entry("ten", 10, 90),
	)

	It("takes taxes too", func() {
		Skip("they are not there yet")
	})

	PIt("takes gift cards")
})
