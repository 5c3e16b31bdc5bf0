//go:build unix

package background

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// detachedProcess starts a process in its own session, so that it outlives the
// terminal.
func detachedProcess() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// LowerPriority gives this process the lowest scheduling priority.
func LowerPriority() {
	const lowest = 19
	unix.Setpriority(unix.PRIO_PROCESS, 0, lowest)
	threads, _ := os.ReadDir("/proc/self/task") // on Linux, each thread has a priority of its own
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			unix.Setpriority(unix.PRIO_PROCESS, id, lowest)
		}
	}
}

// LimitProcessorTime makes the system end this process after a number of seconds of processor
// time.
func LimitProcessorTime(seconds uint64) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &limit) == nil {
		limit.Cur, limit.Max = min(limit.Cur, seconds), min(limit.Max, seconds)
		unix.Setrlimit(unix.RLIMIT_CPU, &limit)
	}
}
