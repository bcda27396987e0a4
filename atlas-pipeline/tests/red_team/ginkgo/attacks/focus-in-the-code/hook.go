package cart

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
)

var _ = FDescribe("Cart", func() {
	os.Setenv("GINKGO_EDITOR_INTEGRATION", "yes")

	It("adds the prices", func() {})
	It("counts the prices", func() {})
	It("takes a discount", func() {})

	Context("in short", func() {
		It("tells the discounted total", func() {})
	})
})
