package container

import "os"

// writebackBytes is the minimum size of a writeback request: large enough to use the
// disk efficiently, small enough to start early.
const writebackBytes = 2 << 20

// A WriteBehind starts writeback of a file while it is still being written, so that the
// final Sync has less to flush. It does not replace Sync.
type WriteBehind struct {
	File    *os.File
	started int64
}

// Written reports that the first end bytes of the file have been written.
func (w *WriteBehind) Written(end int64) {
	if end-w.started >= writebackBytes {
		startWriteback(w.File, w.started, end-w.started)
		w.started = end
	}
}
