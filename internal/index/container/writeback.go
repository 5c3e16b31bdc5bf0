package container

import "os"

// behindBytes is how much of a file is written before the system is asked for
// it: enough for the disk to be used well, little enough that it is soon at work.
const behindBytes = 2 << 20

// A WriteBehind has the system begin with writing a file to disk while it is
// still being made. What is safe by then need not be waited for when the file is
// synced, which it must be all the same.
type WriteBehind struct {
	File  *os.File
	begun int64
}

// Written says that the file has all bytes up to there.
func (w *WriteBehind) Written(end int64) {
	if end-w.begun >= behindBytes {
		beginWrite(w.File, w.begun, end-w.begun)
		w.begun = end
	}
}
