//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is how much memory the process held at most, in bytes, pages of
// mapped files included.
func peakMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
