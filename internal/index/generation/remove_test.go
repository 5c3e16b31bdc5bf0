package generation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	if err := Remove(dir); !errors.Is(err, ErrNoIndex) {
		t.Fatalf("nothing there: %v, want ErrNoIndex", err)
	}
	own := filepath.Join(dir, "documents.leann.passages.jsonl")
	if err := os.WriteFile(own, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); !errors.Is(err, ErrBusy) {
		t.Fatalf("while a build is at work: %v, want ErrBusy", err)
	}
	if err := b.Commit(Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, Folder, "g000099"), 0o755); err != nil {
		t.Fatal(err) // remains of a killed build
	}
	if err := os.WriteFile(filepath.Join(dir, Folder, ".manifest.json.tmp-1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, Folder)); err == nil {
		t.Error("the folder is still there")
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("the passages are gone: %v", err)
	}
}

func TestRemoveKeepsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, Folder, "notes.txt")
	if err := os.WriteFile(notes, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Errorf("another file was removed: %v", err)
	}
	if _, err := Current(dir); !errors.Is(err, ErrNoIndex) {
		t.Errorf("Current: %v, want ErrNoIndex", err)
	}
}

// killBuild leaves a database in the state of a killed build.
func killBuild(t *testing.T, dir string) *Build {
	t.Helper()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.File("data").String(), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, Folder, "."+manifestName+".tmp-1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b.lock.Unlock() // as the system does
	return b
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTidyAfterAKilledBuild(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "whole")
	killBuild(t, dir)
	if !InProgress(dir) {
		t.Error("the lock names no holder")
	}
	calls := 0
	Tidy(dir, func(first bool) {
		if calls++; first {
			t.Error("it was not the first build")
		}
	})
	if got, want := left(t, dir), []string{lockName, "g000001", manifestName}; calls != 1 || !slices.Equal(got, want) {
		t.Errorf("%d calls, left %q, want %q", calls, got, want)
	}
	if got := contents(t, dir); got != "whole" {
		t.Errorf("got %q", got)
	}
	Tidy(dir, func(bool) { t.Error("nothing remains to tidy") })
}

func TestTidyAfterAKilledFirstBuild(t *testing.T) {
	dir := t.TempDir()
	killBuild(t, dir)
	calls := 0
	Tidy(dir, func(first bool) {
		if calls++; !first {
			t.Error("it was the first build")
		}
	})
	if got := left(t, dir); calls != 1 || len(got) > 0 {
		t.Errorf("%d calls, left %q", calls, got)
	}
}

func TestTidyLeavesAlone(t *testing.T) {
	killed := func(bool) { t.Error("taken for a build that was killed") }
	t.Run("a build at work", func(t *testing.T) {
		dir := t.TempDir()
		b, err := Begin(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abort()
		Tidy(dir, killed)
		if got := left(t, dir); len(got) != 2 {
			t.Errorf("left %q", got)
		}
	})
	t.Run("a build on another machine", func(t *testing.T) {
		dir := t.TempDir()
		killBuild(t, dir)
		if err := os.WriteFile(filepath.Join(dir, Folder, lockName), []byte("process 1 on elsewhere since 2026"), 0o600); err != nil {
			t.Fatal(err)
		}
		Tidy(dir, killed)
		if got := left(t, dir); len(got) != 3 {
			t.Errorf("left %q", got)
		}
	})
	t.Run("an index whose manifest is lost", func(t *testing.T) {
		dir := t.TempDir()
		build(t, dir, "whole")
		if err := os.Remove(ManifestPath(dir)); err != nil {
			t.Fatal(err)
		}
		Tidy(dir, killed)
		if got := left(t, dir); len(got) != 2 {
			t.Errorf("left %q", got)
		}
	})
	t.Run("a damaged manifest", func(t *testing.T) {
		dir := t.TempDir()
		build(t, dir, "whole")
		killBuild(t, dir)
		if err := os.WriteFile(ManifestPath(dir), []byte("{"), 0o644); err != nil {
			t.Fatal(err)
		}
		Tidy(dir, killed)
		if got := left(t, dir); len(got) != 5 {
			t.Errorf("left %q", got)
		}
	})
}

// If a first build fails, only files of others remain.
func TestAbortOfAFirstBuild(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !b.First {
		t.Error("not the first build")
	}
	b.Abort()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
	if b, err = Begin(dir, 0); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, Folder, "notes.txt")
	if err := os.WriteFile(notes, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b.Abort()
	if _, err := os.Stat(notes); err != nil {
		t.Error(err)
	}
}

// Builds that wait while first builds fail hold the lock one at a time.
func TestFirstBuildsAtOnce(t *testing.T) {
	dir := t.TempDir()
	var at, maxWorkers atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				b, err := Begin(dir, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if n := at.Add(1); n > 1 {
					maxWorkers.Store(n)
				}
				at.Add(-1)
				b.Abort()
			}
		})
	}
	all.Wait()
	if n := maxWorkers.Load(); n > 0 {
		t.Errorf("%d builders had the lock at the same time", n)
	}
}
