//go:build !windows

package main

import (
	"os"
	"syscall"
)

// hangup is the signal that reloads a server; nil on systems without it.
var hangup os.Signal = syscall.SIGHUP
