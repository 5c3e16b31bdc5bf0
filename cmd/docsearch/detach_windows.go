package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detachedProcess starts a process without a console, which ends with none.
func detachedProcess() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// lowerPriority lets this process work when others do not.
func lowerPriority() {
	windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}
