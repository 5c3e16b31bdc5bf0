package container

import (
	"os"
	"syscall"
)

// startWriteback asks the system to write n bytes to disk. Errors are ignored, because
// Sync writes the bytes too.
func startWriteback(f *os.File, from, n int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), from, n, write)
}
