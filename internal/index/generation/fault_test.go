package generation

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// failAt makes the n-th file operation fail until restore is called. hit reports whether
// there was one.
func failAt(n int64) (hit func() bool, restore func()) {
	var done atomic.Int64
	atomicfile.Fault = func(string, string) error {
		if done.Add(1) == n {
			return syscall.EIO
		}
		return nil
	}
	return func() bool { return done.Load() >= n }, func() { atomicfile.Fault = nil }
}

// Whichever file operation of a build fails, the database has either generation and can be
// built again, and nothing else remains.
func TestEachOperationFails(t *testing.T) {
	for _, before := range []string{"", "old"} {
		t.Run("before="+before, func(t *testing.T) {
			late := 0
			for n := int64(1); ; n++ {
				dir := t.TempDir()
				if before != "" {
					build(t, dir, before)
				}
				hit, restore := failAt(n)
				err := buildOrFail(dir, "new")
				restore()
				if !hit() {
					break
				}
				want := []string{before}
				var after *LateError
				switch {
				case errors.As(err, &after):
					late++
					fallthrough
				case err == nil:
					want = []string{"new"}
				}
				if got := contentsOrNone(t, dir); !slices.Contains(want, got) {
					t.Errorf("operation %d failed with %v: the database has %q, want %q", n, err, got, want)
				}
				Tidy(dir, func(bool) {})
				if got := contentsOrNone(t, dir); !slices.Contains(want, got) {
					t.Errorf("operation %d failed with %v: after Tidy, the database has %q, want %q", n, err, got, want)
				}
				build(t, dir, "next")
				if got := contents(t, dir); got != "next" {
					t.Errorf("operation %d failed: the next build made %q", n, got)
				}
				if names := left(t, dir); len(names) != 3 {
					t.Errorf("operation %d failed: the next build left %q", n, names)
				}
			}
			if late == 0 {
				t.Error("no operation failed after the manifest was replaced")
			}
		})
	}
}

func buildOrFail(dir, contents string) error {
	b, err := Begin(dir, time.Minute)
	if err != nil {
		return err
	}
	defer b.Abort()
	if err := os.WriteFile(b.File("data").String(), []byte(contents), 0o644); err != nil {
		return err
	}
	return b.Commit(Manifest{Passages: len(contents)}, nil)
}

func contentsOrNone(t *testing.T, dir string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, Folder, manifestName)); err != nil {
		return ""
	}
	return contents(t, dir)
}
