//go:build !windows

package eventlog

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe in place of the log does not block.
func TestNamedPipe(t *testing.T) {
	l := Log{t.TempDir()}
	if err := syscall.Mkfifo(filepath.Join(l.Dir, currentFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(&sample); err == nil {
		t.Error("no error")
	}
	if damaged, err := l.Read(func(Event) error { return nil }); damaged != 0 || err != nil {
		t.Errorf("%d damaged, error %v", damaged, err)
	}
}
