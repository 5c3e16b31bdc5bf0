package pdf

import (
	"os"
	"syscall"
	"time"
)

// limitProcess ends the process after seconds of processor time.
func limitProcess(seconds uint32) {
	go func() {
		process, _ := syscall.GetCurrentProcess()
		for range time.Tick(time.Second / 4) {
			var begin, end, kernel, user syscall.Filetime
			if syscall.GetProcessTimes(process, &begin, &end, &kernel, &user) == nil &&
				duration(kernel)+duration(user) >= time.Duration(seconds)*time.Second {
				os.Exit(1)
			}
		}
	}()
}

// duration converts a number of 100 ns.
func duration(t syscall.Filetime) time.Duration {
	return time.Duration(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 100
}
