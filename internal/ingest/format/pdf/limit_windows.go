package pdf

import (
	"syscall"
	"time"
)

// limitMemory does nothing: the system has no limit that a process sets for itself.
func limitMemory() {}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	process, _ := syscall.GetCurrentProcess()
	var begin, end, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(process, &begin, &end, &kernel, &user) != nil {
		return 0
	}
	return duration(kernel) + duration(user)
}

// duration converts a number of 100 ns.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 100
}
