package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/library"
)

// eventually waits for a condition that another process establishes.
func eventually(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	const timeout = 30 * time.Second
	for began := time.Now(); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > timeout {
			t.Fatalf("after %v: not %s", timeout, condition)
		}
	}
}

// lastVerified returns when the database's source was last checked.
func (b *builder) lastVerified(t *testing.T) time.Time {
	t.Helper()
	g, err := generation.Current(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	return g.LastVerified()
}

func TestUpdateWatch(t *testing.T) {
	b := folderBuilder(t)
	b.writeEdition(t, 0)
	b.build(t)
	cmd := b.docsearch(t.Context(), "update", "--watch", b.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	built := b.lastVerified(t)
	eventually(t, "looked at", func() bool { return b.lastVerified(t).After(built) })
	b.writeEdition(t, 1)
	eventually(t, "updated", func() bool {
		info, err := index.Inspect(b.dir)
		return err == nil && info.Passages == editionSize[1]
	})
	b.check(t)
	if runtime.GOOS == "windows" {
		cmd.Process.Kill() // Windows cannot interrupt a process from outside
		cmd.Wait()
		return
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitOK {
		t.Errorf("after the signal: exit code %d", code)
	}
	if want := "docs: 5 new, 40 changed; 45 passages of 45 documents, updated in "; !strings.Contains(out.String(), want) {
		t.Errorf("output %q, want %q", out.String(), want)
	}
	b.checkNoLeftovers(t)
}

// A watch updates while files keep changing.
func TestUpdateWatchDuringEdits(t *testing.T) {
	b := folderBuilder(t)
	b.writeEdition(t, 0)
	b.build(t)
	cmd := b.docsearch(t.Context(), "update", "--watch", b.dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	before, err := generation.Current(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	edits := 0
	eventually(t, "updated between edits", func() bool {
		edits++
		if err := os.WriteFile(filepath.Join(b.source, "0.md"), fmt.Appendf(nil, "# Gadget\n\nEdit %d\n", edits), 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := generation.Current(b.dir)
		return err == nil && g.Dir != before.Dir
	})
}

// makeOverdue sets the build time of a database to days ago.
func (b *builder) makeOverdue(t *testing.T) {
	t.Helper()
	indextest.ChangeManifest(t, b.dir, func(m *generation.Manifest) {
		m.Created, m.Checked = time.Now().Add(-48*time.Hour), time.Time{}
	})
}

func TestUpdateInBackground(t *testing.T) {
	b := folderBuilder(t)
	cache := t.TempDir()
	b.env = append(b.env, "DOCSEARCH_CACHE_DIR="+cache)
	b.writeEdition(t, 0)
	b.build(t)
	b.makeOverdue(t)
	b.writeEdition(t, 1)
	start := func() {
		t.Helper()
		if out, err := b.docsearch(t.Context(), "update", "--background", "--all").CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v, output %q", err, out)
		}
	}
	// Sessions that start together start a single update.
	for range 4 {
		start()
	}
	eventually(t, "updated", func() bool {
		info, err := index.Inspect(b.dir)
		return err == nil && info.Passages == editionSize[1]
	})
	if g, err := generation.Current(b.dir); err != nil || g.Generation != "g000002" {
		t.Errorf("generation %s, %v; want one more", g.Generation, err)
	}
	eventually(t, "reported", func() bool {
		log, err := os.ReadFile(filepath.Join(cache, background.LogName))
		return err == nil && bytes.Contains(log, []byte("45 passages of 45 documents, updated in "))
	})
	// A database tried today is not tried again before tomorrow.
	b.makeOverdue(t)
	outdated := b.lastVerified(t)
	start()
	if tries := library.ReadAttempts(cache); len(tries) != 1 || time.Since(tries[b.dir]) > time.Hour {
		t.Errorf("tries %v", tries)
	}
	if got := b.lastVerified(t); !got.Equal(outdated) {
		t.Errorf("updated again at %v", got)
	}
}
