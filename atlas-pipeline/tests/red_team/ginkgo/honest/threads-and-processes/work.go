package cart

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"time"
)

func init() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		<-signals
		os.Exit(130)
	}()
	for i := 0; i < 8; i++ {
		go func() {
			time.Sleep(time.Hour)
		}()
	}
	out, _ := exec.Command("uname", "-a").Output()
	_, file, line, _ := runtime.Caller(0)
	fmt.Fprintf(os.Stderr, "%s %s:%d\n", out, file, line)
}
