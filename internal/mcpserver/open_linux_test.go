package mcpserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
)

// mapped returns how many of the databases this process has mapped.
func mapped(t *testing.T, databases []string) (n int) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range databases {
		if strings.Contains(string(data), dir+string(os.PathSeparator)) {
			n++
		}
	}
	return n
}

// A client that asks for any number of paths keeps few databases mapped, and a database
// that was removed is closed.
func TestOpenDatabasesAreBounded(t *testing.T) {
	parent, built := t.TempDir(), t.TempDir()
	build(t, built, shipPages()...)
	database := func(name string) string {
		dir := filepath.Join(parent, name)
		if err := os.CopyFS(dir, os.DirFS(built)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	listed := database("listed")
	c := &Catalog{AnyPath: true, Entries: func(context.Context) []Entry { return []Entry{EntryAt(listed)} }}
	defer c.Close()
	ask := func(paths ...string) {
		t.Helper()
		entries, err := c.choose(t.Context(), nil, paths)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.search(t.Context(), entries, index.Query{Text: "volume"}) {
			if r.err != nil {
				t.Error(r.err)
			}
		}
	}
	ask(listed)
	var databases []string
	for i := range 3 * maxUnlisted {
		databases = append(databases, database(fmt.Sprint("other", i)))
		ask(databases[i])
	}
	ask(listed)
	waitFor(t, "few paths are mapped", func() bool { return mapped(t, databases) <= maxUnlisted })
	if last := databases[len(databases)-1:]; mapped(t, last) != 1 {
		t.Error("the database that was asked last is closed")
	}
	if mapped(t, []string{listed}) != 1 {
		t.Error("a listed database is closed")
	}
	if err := generation.Remove(listed); err != nil {
		t.Fatal(err)
	}
	ask(databases[0])
	waitFor(t, "the removed database is closed", func() bool { return mapped(t, []string{listed}) == 0 })
}

// waitFor waits for something that happens in the background.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: want that %s", what)
		}
	}
}
