//go:build linux || darwin

package pdf

import "syscall"

// limitProcess ends the process after seconds of processor time and makes allocations
// beyond maxMemory fail. If the system rejects a limit, the other still holds.
func limitProcess(seconds uint32) {
	syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: uint64(seconds), Max: uint64(seconds)})
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
}
