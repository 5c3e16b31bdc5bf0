package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestWrite(t *testing.T) {
	for name, write := range map[string]func(string, []byte, os.FileMode) error{"Write": Write, "WriteCache": WriteCache} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			for _, want := range []string{"first", "second, longer", ""} {
				if err := write(path, []byte(want), 0o640); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(path)
				if err != nil || string(got) != want {
					t.Fatalf("read %q, %v; want %q", got, err, want)
				}
			}
			if runtime.GOOS != "windows" {
				st, err := os.Stat(path)
				if err != nil || st.Mode().Perm() != 0o640 {
					t.Errorf("mode = %v, %v; want 0640", st.Mode(), err)
				}
			}
			onlyFile(t, dir, "file")
		})
	}
}

func TestWriteFailureLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.MkdirAll(filepath.Join(target, "child"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A directory that is not empty cannot be replaced by a file.
	if err := Write(target, []byte("x"), 0o600); err == nil {
		t.Fatal("replaced a directory by a file")
	}
	onlyFile(t, dir, "target")
	if err := Write(filepath.Join(dir, "absent", "file"), nil, 0o600); err == nil {
		t.Fatal("wrote into a directory that does not exist")
	}
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"file", ".file.tmp-123", ".other.tmp-5", ".file.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Clean(filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("left %v, %v; want all but .file.tmp-123", entries, err)
	}
}

func TestConcurrentReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<15)}
	if err := WriteCache(path, contents[0], 0o600); err != nil {
		t.Fatal(err)
	}
	writes := 100
	if runtime.GOOS == "windows" { // where they wait for a reader that hardly pauses
		writes = 10
	}
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := range writes {
				if err := WriteCache(path, contents[(w+i)%2], 0o600); err != nil && runtime.GOOS != "windows" {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		got, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("read a torn file of %d bytes", len(got))
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("directory holds %v, want only %s", entries, name)
	}
}
