package cart

func init() {
	for {
	}
}
