//go:build linux || darwin

package pdf

import (
	"syscall"
	"time"
)

// limitMemory makes allocations beyond maxMemory fail, if the system supports it.
func limitMemory() {
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
