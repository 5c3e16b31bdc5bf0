package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detachedProcess starts a process without a console, so that it outlives the
// console.
func detachedProcess() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// lowerPriority lowers the scheduling priority of this process.
func lowerPriority() {
	windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}
