//go:build unix

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// detachedProcess starts a process in a session of its own, which ends with no
// terminal.
func detachedProcess() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// lowerPriority lets this process work when others do not.
func lowerPriority() { unix.Setpriority(unix.PRIO_PROCESS, 0, 10) }
