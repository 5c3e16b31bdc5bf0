package ingest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filetest"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// Sources have their optional methods, which packages index and library look for.
var (
	_ interface {
		index.Source
		index.Keeper
		LossKeeper
		PDFReader
		ChangeReporter
	} = (*Folder)(nil)
	_ interface {
		index.Source
		index.Keeper
		index.Discarder
		LossKeeper
		PDFReader
		ChangeReporter
	} = (*Extracted)(nil)
	_ interface {
		index.Source
		index.Keeper
		index.Discarder
		LossKeeper
		ChangeReporter
	} = (*Site)(nil)
)

// prepare runs Prepare on path and reads the passages.
func prepare(t *testing.T, path string) (passages []passage.Passage, skipped []generation.Skipped) {
	t.Helper()
	f, err := NewFolder(path, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return prepareFolder(t, f)
}

func prepareFolder(t *testing.T, f *Folder) (passages []passage.Passage, skipped []generation.Skipped) {
	t.Helper()
	dir := t.TempDir()
	prepared, err := f.Prepare(t.Context(), confined.In(dir), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if prepared.Source.Kind != KindFolder || !filepath.IsAbs(prepared.Source.Location) || len(prepared.Source.Files) != 1 {
		t.Errorf("source %+v", prepared.Source)
	}
	skipped, err = ReadSkipped(generation.Generation{Dir: confined.In(dir), Manifest: generation.Manifest{Skipped: prepared.Skipped}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, passage.ShardName(0)))
	if err != nil {
		t.Fatal(err)
	}
	if bad, err := leann.Scan(bytes.NewReader(data), func(_ int64, line []byte) error {
		p, err := passage.Decode(line)
		passages = append(passages, p)
		return err
	}); err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	return passages, skipped
}

func TestFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"guide.md":                               "\xef\xbb\xbf# Guide\r\n\r\nHow to use it.\r\n",
		"sub/deep/notes.TXT":                     "Some notes.\n",
		"sub/read-me_first.md":                   "No heading.\n",
		"README":                                 "Read me\n=======\n\nfirst\n",
		".hidden/a.md":                           "# Hidden\n",
		".secret.md":                             "# Secret\n",
		"node_modules/x/a.md":                    "# X\n",
		"empty.md":                               " \n\n",
		"binary.txt":                             "PK\x00\x01",
		"latin1.txt":                             "gr\xfc\xdfe",
		"main.xyz":                               "package main",
		"Makefile":                               "all:",
		"image.PNG":                              "\x89PNG",
		"long.md":                                strings.Repeat("x", format.MaxFile+1),
		"db/" + "documents.leann.passages.jsonl": "",
		"db/a.md":                                "# A\n",
	})
	ingesttest.WriteFiles(t, outside, map[string]string{"out.md": "# Out\n"})
	links := []generation.Skipped{
		{Name: "in.md", Reason: "symbolic link to a file that is indexed elsewhere"},
		{Name: "nowhere.md", Reason: "broken symbolic link"},
		{Name: "out", Reason: "symbolic link to outside the folder"},
		{Name: "out.md", Reason: "symbolic link to outside the folder"},
	}
	if filetest.HasSymlinks(t) {
		for name, target := range map[string]string{
			"in.md": "guide.md", "nowhere.md": "absent.md", "out": outside, "out.md": filepath.Join(outside, "out.md"),
		} {
			filetest.Symlink(t, target, filepath.Join(dir, name))
		}
	} else {
		links = nil
	}
	passages, skipped := prepare(t, dir)
	var got []string
	for _, p := range passages {
		got = append(got, fmt.Sprintf("%s | %s | %q | %q", p.Locator(), p.Title, p.Headings, p.Text))
	}
	want := []string{
		`README:1 | Read me | ["Read me"] | "Read me\n=======\n\nfirst"`,
		`guide.md:1 | Guide | ["Guide"] | "# Guide\n\nHow to use it."`,
		`latin1.txt:1 | latin1 | [] | "grüße"`,
		`sub/deep/notes.TXT:1 | notes | [] | "Some notes."`,
		`sub/read-me_first.md:1 | read me first | [] | "No heading."`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passages (-want +got)\n%s", diff)
	}
	wantSkipped := map[string]string{
		".hidden/": "hidden", ".secret.md": "hidden", "node_modules/": "other packages' files", "empty.md": "empty", "binary.txt": "binary",
		"main.xyz": "unsupported file type: .xyz", "Makefile": "unsupported file type: no extension",
		"image.PNG": "unsupported file type: .png", "long.md": "larger than 32 MiB", "db/": "a database",
	}
	for _, l := range links {
		wantSkipped[l.Name] = l.Reason
	}
	gotSkipped := map[string]string{}
	for _, s := range skipped {
		gotSkipped[s.Name] = s.Reason
	}
	if diff := cmp.Diff(wantSkipped, gotSkipped); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}
}

func TestUnreadableFileIsSkipped(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("nothing is unreadable for this user")
	}
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "# A\n", "b.md": "# B\n", "sub/c.md": "# C\n"})
	for _, name := range []string{"b.md", "sub"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(dir, "sub"), 0o755)
	passages, skipped := prepare(t, dir)
	if len(passages) != 1 || len(skipped) != 2 {
		t.Errorf("%d passages, skipped %v", len(passages), skipped)
	}
}

func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "# A\n", "b.md": "# B\n", "c.png": "x"})
	passages, skipped := prepare(t, filepath.Join(dir, "a.md"))
	if len(passages) != 1 || passages[0].Path != "a.md" || len(skipped) != 0 {
		t.Errorf("passages %v, skipped %v", passages, skipped)
	}
	if _, err := NewFolder(filepath.Join(dir, "c.png"), folder.Options{}); err == nil || !strings.Contains(err.Error(), ".md") {
		t.Errorf("a picture: %v", err)
	}
	if _, err := NewFolder(filepath.Join(dir, "absent"), folder.Options{}); err == nil {
		t.Error("took a folder that is not there")
	}
}

// IDs stay the same while their passage does, whatever else changes.
func TestIDsAreStable(t *testing.T) {
	part := func(name string) string { return "\n## " + name + "\n\n" + ingesttest.Words(name, 150) + "\n" }
	ids := func(content string) map[string]string {
		dir := t.TempDir()
		ingesttest.WriteFiles(t, dir, map[string]string{"a.md": content})
		passages, _ := prepare(t, dir)
		ids := map[string]string{}
		for _, p := range passages {
			ids[p.ID] = strings.Join(p.Headings, ">")
		}
		if len(ids) != len(passages) {
			t.Errorf("%d ids for %d passages", len(ids), len(passages))
		}
		return ids
	}
	before := ids("# T\n" + part("A") + part("B") + part("C"))
	after := ids("# T\n" + part("A") + part("New") + part("C"))
	kept := 0
	for id, headings := range after {
		if before[id] == headings {
			kept++
		}
	}
	if len(before) != 3 || kept != 2 {
		t.Errorf("before %v, after %v: want A and C to keep their ids", before, after)
	}
	if twice := ids("# T\n" + part("A") + part("A")); len(twice) != 2 {
		t.Errorf("two passages alike have ids %v", twice)
	}
}

func TestFolderPublishes(t *testing.T) {
	docs, database := t.TempDir(), t.TempDir()
	ingesttest.WriteFiles(t, docs, map[string]string{"a.md": "# A\n\ntext\n"})
	f, err := NewFolder(docs, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := index.Build(t.Context(), database, f, index.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := leann.Find(database)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&leann.Origin{Kind: KindFolder, Location: docs}, x.Meta.Origin); diff != "" {
		t.Errorf("origin (-want +got)\n%s", diff)
	}
	// The manifest must describe the file after publication.
	recorded := info.Source.Files[0]
	st, err := os.Stat(filepath.Join(database, recorded.Path))
	if err != nil || st.Size() != recorded.Size || !st.ModTime().Equal(recorded.ModTime) {
		t.Errorf("published %v, %v; recorded %+v", st, err, recorded)
	}
}

func TestChanged(t *testing.T) {
	docs, dir := t.TempDir(), t.TempDir()
	ingesttest.WriteFiles(t, docs, map[string]string{"a.md": "# A\n", "sub/b.md": "# B\n", "empty.md": "", "x.png": "x"})
	f, err := NewFolder(docs, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := f.Prepare(t.Context(), confined.In(dir), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := generation.Generation{Manifest: generation.Manifest{Source: prepared.Source}, Dir: confined.In(dir)}
	check := func(what, want string) {
		t.Helper()
		got, err := Changed(t.Context(), g)
		if err != nil || want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
	}
	check("nothing changed", "")
	ingesttest.WriteFiles(t, docs, map[string]string{"y.png": "y"})
	check("a picture more", "")
	ingesttest.WriteFiles(t, docs, map[string]string{"empty.md": "# No more\n"})
	check("a file that was empty", "a file of "+docs)
	ingesttest.WriteFiles(t, docs, map[string]string{"c.md": "# C\n", "a.md": "# New\n"})
	check("two more", "3 files of "+docs)
	if err := os.RemoveAll(filepath.Join(docs, "sub")); err != nil {
		t.Fatal(err)
	}
	check("one removed", "4 files of "+docs)
	if err := os.RemoveAll(docs); err != nil {
		t.Fatal(err)
	}
	check("all removed", docs+" no longer exists")
	if err := os.WriteFile(filepath.Join(dir, FilesName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Changed(t.Context(), g); err == nil {
		t.Error("read a list that is cut")
	}
}

func BenchmarkPrepare(b *testing.B) {
	docs := b.TempDir()
	page := "# Page\n\n" + strings.Repeat("## Part\n\n"+ingesttest.Words("word0000", 180)+"\n\n```go\n"+strings.Repeat("x := f(1, 2)\n", 10)+"```\n\n- one\n- two\n\n", 8)
	const pages = 200
	for i := range pages {
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%d.md", i)), []byte(strings.ReplaceAll(page, "word0000", fmt.Sprintf("word%04d", i))), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	f, err := NewFolder(docs, folder.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(pages * len(page)))
	for b.Loop() {
		if _, err := f.Prepare(b.Context(), confined.In(b.TempDir()), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
