package filelock

import (
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	failImmediately        = 1
	exclusive              = 2
	errorLockViolation     = syscall.Errno(33)
	lockOffset, lockLength = 1 << 30, 1 // after the contents: a Windows lock also blocks reads of its range
)

func tryLock(f *os.File) error {
	at := syscall.Overlapped{Offset: lockOffset}
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive|failImmediately, 0, lockLength, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case err == errorLockViolation || err == syscall.ERROR_IO_PENDING:
		return ErrLocked
	}
	return err
}
