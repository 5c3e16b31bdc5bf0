package mmap

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, want := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("page"), 10_000)} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Data, want) {
			t.Errorf("%d bytes mapped differ from the file's %d", len(m.Data), len(want))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "absent")} {
		if m, err := Open(path); err == nil {
			m.Close()
			t.Errorf("Open(%s) succeeded", path)
		}
	}
}
