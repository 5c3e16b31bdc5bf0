package container

import (
	"os"
	"syscall"
)

// beginWrite asks for n bytes to be written. Where that fails, syncing writes
// them.
func beginWrite(f *os.File, from, n int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), from, n, write)
}
