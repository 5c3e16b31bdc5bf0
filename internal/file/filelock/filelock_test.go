package filelock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestTryLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("second TryLock: %v, want ErrLocked", err)
	}
	if _, err := Acquire(path, 5*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Fatalf("Acquire of a held lock: %v, want ErrLocked", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := Acquire(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	second.Unlock()
}

// A holder that dies without unlocking must not keep others out.
func TestLockEndsWithItsProcess(t *testing.T) {
	if path := os.Getenv("FILELOCK_TEST_HOLD"); path != "" {
		if _, err := TryLock(path); err != nil {
			t.Fatal(err)
		}
		os.Exit(7)
	}
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), "FILELOCK_TEST_HOLD="+path)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Fatalf("holder: %v, want exit status 7", err)
	}
	l, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()
}

func TestTryLockNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "lock")
	_, err := TryLock(path)
	var pathErr *os.PathError
	if !errors.As(err, &pathErr) || pathErr.Path != path {
		t.Fatalf("error %v does not name %s", err, path)
	}
}
