//go:build unix

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// detachedProcess starts a process in its own session, so that it outlives the
// terminal.
func detachedProcess() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// lowerPriority lowers the scheduling priority of this process.
func lowerPriority() { unix.Setpriority(unix.PRIO_PROCESS, 0, 10) }
