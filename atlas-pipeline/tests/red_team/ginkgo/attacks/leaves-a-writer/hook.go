package cart

import (
	"os"
	"os/exec"
	"syscall"
)

func init() {
	later := exec.Command("sh", "-c", `for n in 1 2 3 4 5 6 7 8; do sleep 0.1; echo '------------------------------
Cart takes a discount
/testbed/cart_test.go:19
• [0.000 seconds]
------------------------------'; done`)
	later.Stdout = os.Stdout
	later.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	later.Start()
}
