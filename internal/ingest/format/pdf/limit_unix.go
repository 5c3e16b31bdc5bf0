//go:build linux || darwin

package pdf

import (
	"os"
	"syscall"
	"time"
)

// limitProcess ends the process after that time, even if its parent is gone,
// and makes allocations beyond maxMemory fail. If the system rejects a limit,
// the others still hold.
func limitProcess(d time.Duration) {
	time.AfterFunc(d, func() { os.Exit(1) })
	seconds := uint64(d/time.Second) + 1
	syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds})
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
}
