package background

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// detachedProcess starts a process without a console, so that it outlives the
// console.
func detachedProcess() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// LowerPriority gives this process the lowest scheduling priority.
func LowerPriority() {
	windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS)
}

// LimitProcessorTime ends this process after a number of seconds. It uses at most as much
// processor time on each core.
func LimitProcessorTime(seconds uint64) {
	time.AfterFunc(time.Duration(seconds)*time.Second, func() { os.Exit(1) })
}
