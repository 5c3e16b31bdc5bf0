package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/progress"
)

// A failingFolder is a folder with files and folders that cannot be read, and with
// documents whose parser fails. It works for every user, also for one who may read
// everything.
type failingFolder struct {
	*Folder
	unreadable map[string]error // by name; that of a folder ends with a slash
	faults     map[string]func() document.Document
}

func newFailingFolder(t *testing.T, dir string) *failingFolder {
	t.Helper()
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &failingFolder{f, map[string]error{}, map[string]func() document.Document{}}
}

func (f *failingFolder) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return generation.Prepared{}, err
	}
	defer root.Close()
	items, skipped, err := f.list(ctx, root)
	if err != nil {
		return generation.Prepared{}, err
	}
	for name, err := range f.unreadable {
		if strings.HasSuffix(name, "/") {
			items = slices.DeleteFunc(items, func(it source.Item) bool { return strings.HasPrefix(it.Name, name) })
			skipped = append(skipped, generation.Skipped{Name: name, Reason: generation.Unreadable + err.Error()})
		}
	}
	c := &collector{Reader: failingReader{folder.Reader{Root: root, Filter: f.filter}, f}, keeper: f.keeper}
	prepared, err := collect(ctx, dir, before, generation.Source{Kind: KindFolder, Location: f.location}, c, items, skipped, report)
	f.changes = c.changes
	return prepared, err
}

type failingReader struct {
	folder.Reader
	*failingFolder
}

func (r failingReader) Load(it *source.Item) ([]byte, error) {
	if err := r.unreadable[it.Name]; err != nil {
		return nil, errors.New(generation.Unreadable + err.Error())
	}
	return r.Reader.Load(it)
}

func (r failingReader) Parse(ctx context.Context, data []byte, it *source.Item) (document.Document, error) {
	if f := r.faults[it.Name]; f != nil {
		return f(), nil
	}
	return r.Reader.Parse(ctx, data, it)
}

// writePages writes n pages into each of the folders a, b and c.
func writePages(t *testing.T, dir string, n int) {
	t.Helper()
	files := map[string]string{}
	for i := range n {
		for _, sub := range []string{"a", "b", "c"} {
			files[fmt.Sprintf("%s/%02d.md", sub, i)] = fmt.Sprintf("# Page %d of %s\n\n%s\n", i, sub, ingesttest.Words(fmt.Sprintf("%s%d", sub, i), 30))
		}
	}
	ingesttest.WriteFiles(t, dir, files)
}

// documentsOf counts the documents of a generation for each of the folders.
func documentsOf(g *preparedGeneration) map[string]int {
	count := map[string]int{}
	last := ""
	for line := range strings.Lines(string(g.lines)) {
		if name, _ := passage.DecodeLinks([]byte(line)); name != last {
			sub, _, _ := strings.Cut(name, "/")
			count[sub]++
			last = name
		}
	}
	return count
}

// Documents that cannot be read keep their passages: in an update, in an update by another
// version, in a build of the same database, and with records that this version cannot read.
func TestUnreadableIsKept(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, f *failingFolder, before *preparedGeneration) *preparedGeneration
	}{
		{"update", func(t *testing.T, f *failingFolder, before *preparedGeneration) *preparedGeneration {
			return generate(t, f, &before.Generation)
		}},
		{"build", func(t *testing.T, f *failingFolder, before *preparedGeneration) *preparedGeneration {
			f.Keep(&before.Generation)
			return generate(t, f, nil)
		}},
		{"build over other records", func(t *testing.T, f *failingFolder, before *preparedGeneration) *preparedGeneration {
			writeFilesTable(t, before.Path(FilesName)+".new", filesVersion-1, nil, nil, nil)
			if err := os.Rename(before.Path(FilesName)+".new", before.Path(FilesName)); err != nil {
				t.Fatal(err)
			}
			f.Keep(&before.Generation)
			return generate(t, f, nil)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			writePages(t, dir, 10)
			f := newFailingFolder(t, dir)
			before := generate(t, f, nil)

			// A folder without permission, a file on a failing disk, and a change elsewhere.
			f.unreadable["b/"], f.unreadable["c/03.md"] = fs.ErrPermission, syscall.EIO
			ingesttest.WriteFiles(t, dir, map[string]string{"a/new.md": "# New\n\nIt is new.\n", "c/03.md": "# Page\n\nchanged\n"})
			if err := os.Remove(filepath.Join(dir, "a", "00.md")); err != nil {
				t.Fatal(err)
			}
			now := tt.prepare(t, f, before)
			if diff := cmp.Diff(map[string]int{"a": 10, "b": 10, "c": 10}, documentsOf(now)); diff != "" {
				t.Fatalf("documents (-want +got)\n%s", diff)
			}
			if n := f.Changes().Unreadable; n != 11 {
				t.Errorf("%d documents counted as kept, want 11", n)
			}
			want := []generation.Skipped{
				{Name: "b/", Reason: "cannot read: permission denied; kept the previous version of its documents: 10"},
				{Name: "c/03.md", Reason: "cannot read: " + syscall.EIO.Error() + "; kept the previous version"},
			}
			if diff := cmp.Diff(want, now.skipped); diff != "" {
				t.Errorf("skipped (-want +got)\n%s", diff)
			}
			// Nothing has changed since, and they are counted again.
			if again := generate(t, f, &now.Generation); again != nil || f.Changes().Unreadable != 11 {
				t.Errorf("an update without a change: %v, %d counted as kept", again, f.Changes().Unreadable)
			}
			// Once they can be read, the database is that of a build.
			clear(f.unreadable)
			ingesttest.WriteFiles(t, dir, map[string]string{"b/05.md": "# Page\n\nchanged\n"})
			later := generate(t, f, &now.Generation)
			f.keeper = keeper{}
			full := generate(t, f, nil)
			if diff := cmp.Diff(string(full.lines), string(later.lines)); diff != "" {
				t.Errorf("passages after the failure (-build +update)\n%s", diff)
			}
			if len(later.skipped) > 0 {
				t.Errorf("skipped after the failure: %v", later.skipped)
			}
		})
	}
}

// An update keeps the documents of a source that seems to have lost most of them; a build
// removes them. Documents that moved, or that the user excludes, are not lost.
func TestLostIsKept(t *testing.T) {
	remove := func(t *testing.T, dir string) {
		if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		lost   int
		want   map[string]int
	}{
		{"a third", remove, 10, map[string]int{"a": 10, "b": 10, "c": 10}},
		{"all", func(t *testing.T, dir string) {
			for _, sub := range []string{"a", "b", "c"} {
				os.RemoveAll(filepath.Join(dir, sub))
			}
		}, 30, map[string]int{"a": 10, "b": 10, "c": 10}},
		{"a few", func(t *testing.T, dir string) {
			for i := range 7 {
				os.Remove(filepath.Join(dir, "b", fmt.Sprintf("%02d.md", i)))
			}
		}, 0, map[string]int{"a": 10, "b": 3, "c": 10}},
		{"moved", func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "d")); err != nil {
				t.Fatal(err)
			}
		}, 0, map[string]int{"a": 10, "c": 10, "d": 10}},
		{"ignored", func(t *testing.T, dir string) {
			ingesttest.WriteFiles(t, dir, map[string]string{".docsearchignore": "b/\n"})
		}, 0, map[string]int{"a": 10, "c": 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			writePages(t, dir, 10)
			f, err := NewFolder(dir, folder.Options{})
			if err != nil {
				t.Fatal(err)
			}
			before := generate(t, f, nil)
			tt.change(t, dir)
			f.KeepLost()
			now := generate(t, f, &before.Generation)
			if diff := cmp.Diff(tt.want, documentsOf(now)); diff != "" {
				t.Errorf("documents (-want +got)\n%s", diff)
			}
			if n := f.Changes().Lost; n != tt.lost {
				t.Errorf("%d lost, want %d", n, tt.lost)
			}
			reason := fmt.Sprintf("kept the previous version of %d of 30 documents: the source no longer has them", tt.lost)
			if said := slices.ContainsFunc(now.skipped, func(s generation.Skipped) bool { return s.Reason == reason }); said != (tt.lost > 0) {
				t.Errorf("skipped: %v", now.skipped)
			}
			if tt.lost == 0 || tt.lost == 30 {
				return
			}
			f.keeper = keeper{}
			f.Keep(&now.Generation)
			if n := documentsOf(generate(t, f, nil))["b"]; n > 0 {
				t.Errorf("a build keeps %d documents that are gone", n)
			}
		})
	}
}

// A fault in one document, of its parser or of what follows, skips that document.
func TestFaultInOneDocument(t *testing.T) {
	dir := t.TempDir()
	writePages(t, dir, 10)
	f := newFailingFolder(t, dir)
	f.faults["a/01.md"] = func() document.Document {
		var none []string
		return document.Document{Title: none[len(none)]}
	}
	f.faults["b/02.md"] = func() document.Document { panic("a mistake of a library") }
	// The splitter fails on blocks that are out of order.
	f.faults["c/03.md"] = func() document.Document {
		lines := strings.Split(strings.Repeat("word word word word\n", 200), "\n")
		return document.Document{Lines: lines, Sections: []document.Section{{First: 1, Last: 150, Blocks: []document.Block{{First: 100, Last: 150}, {First: 500, Last: 1}, {First: 900, Last: 901}}}}}
	}
	g := generate(t, f, nil)
	if diff := cmp.Diff(map[string]int{"a": 9, "b": 9, "c": 9}, documentsOf(g)); diff != "" {
		t.Errorf("documents (-want +got)\n%s", diff)
	}
	named := map[string]string{}
	for _, s := range g.skipped {
		named[s.Name] = s.Reason
	}
	if diff := cmp.Diff([]string{"a/01.md", "b/02.md", "c/03.md"}, slices.Sorted(maps.Keys(named))); diff != "" {
		t.Fatalf("skipped (-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{
		"a/01.md": "docsearch failed: runtime error: index out of range [0] with length 0 (keep_test.go:",
		"b/02.md": "docsearch failed: a mistake of a library (keep_test.go:",
		"c/03.md": "docsearch failed: runtime error: ",
	} {
		if !strings.HasPrefix(named[name], want) || !strings.HasSuffix(named[name], "; please report this") {
			t.Errorf("%s: %q, want %q", name, named[name], want)
		}
	}
	// An update that finds the same faults finds no change.
	if now := generate(t, f, &g.Generation); now != nil {
		t.Errorf("a change without one: %v", now.skipped)
	}
}
