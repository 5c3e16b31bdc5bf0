//go:build linux || darwin

package pdf

import (
	"os"
	"syscall"
	"time"
)

// limitProcess ends the process after that time, whoever started it may be gone,
// and has allocations beyond maxMemory fail. Where the system does not take a
// limit, the others hold.
func limitProcess(d time.Duration) {
	time.AfterFunc(d, func() { os.Exit(1) })
	seconds := uint64(d/time.Second) + 1
	syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds})
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
}
