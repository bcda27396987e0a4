package cart

import (
	"fmt"
	"strings"
)

func init() {
	line := strings.Repeat("debug ", 20)
	for i := 0; i < 40000; i++ {
		fmt.Println(i, line)
	}
}
