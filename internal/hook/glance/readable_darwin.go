package glance

import (
	"syscall"
	"time"
)

// readable reports whether a read of standard input would return at once, or
// will before the patience is over.
func readable(patience time.Duration) bool {
	set, timeout := syscall.FdSet{}, syscall.NsecToTimeval(int64(patience))
	set.Bits[0] = 1 // standard input
	err := syscall.Select(1, &set, nil, nil, &timeout)
	return err == nil && set.Bits[0]&1 != 0
}
