package ingest

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/progress"
)

// A preparer is a source.
type preparer interface {
	Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error)
	Changes() Changes
}

// A preparedGeneration is the generation that a source prepared.
type preparedGeneration struct {
	generation.Generation
	kept    []generation.Reused
	lines   []byte
	skipped []generation.Skipped
}

// generate prepares a generation; nil if nothing has changed.
func generate(t testing.TB, src preparer, before *generation.Generation) *preparedGeneration {
	t.Helper()
	g := &preparedGeneration{Generation: generation.Generation{Dir: confined.In(t.TempDir())}}
	g.Created = time.Now().Add(time.Minute) // so that file times are trusted
	prepared, err := src.Prepare(t.Context(), g.Dir, before, nil)
	if err != nil {
		t.Fatal(err)
	}
	if prepared.Unchanged {
		return nil
	}
	g.Source, g.Skipped, g.kept = prepared.Source, prepared.Skipped, prepared.Reused
	entries, err := g.Dir.ReadDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(g.Path(e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		g.Files = append(g.Files, generation.FileInfo{Name: e.Name(), Size: int64(len(data)), CRC32: fmt.Sprintf("%08x", crc32.ChecksumIEEE(data))})
		if e.Name() == passage.ShardName(0) {
			g.lines = data
		}
	}
	if g.skipped, err = ReadSkipped(g.Generation); err != nil {
		t.Fatal(err)
	}
	return g
}

// checkKept checks that reused runs are identical, and returns their size.
func checkKept(t *testing.T, before, now *preparedGeneration) (n int64) {
	t.Helper()
	end := int64(0)
	for _, k := range now.kept {
		was, is := before.lines[k.Before.Offset:k.Before.Offset+k.Length], now.lines[k.Now.Offset:k.Now.Offset+k.Length]
		if !bytes.Equal(was, is) || len(is) == 0 || is[len(is)-1] != '\n' {
			t.Fatalf("run %+v is not the same", k)
		}
		if k.Now.Offset < end {
			t.Fatalf("run %+v begins before the last one ends", k)
		}
		end = k.Now.Offset + k.Length
		n += k.Length
	}
	return n
}

// After random changes of a folder, an update makes the same passages as a
// build, without the same boilerplate, and reuses those of unchanged files.
func TestUpdateEqualsBuild(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	text := func() string {
		text := fmt.Sprintf("# Title %d\n\n%s\n\n## Section\n\n%s\n", rng.IntN(3), ingesttest.Words("intro", rng.IntN(200)), ingesttest.Words("text", rng.IntN(900)))
		for i := range 3 {
			// About as many documents as make it boilerplate have each of these.
			if rng.IntN(3) == 0 {
				text += fmt.Sprintf("\nThis is notice number %d of many documents.\n", i)
			}
		}
		return text
	}
	edit := func() {
		name := filepath.Join(dir, fmt.Sprintf("%d", rng.IntN(3)), fmt.Sprintf("%d.md", rng.IntN(10)))
		switch rng.IntN(7) {
		case 0:
			os.Remove(name)
		case 1:
			ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "", "b.bin": "x", "c.txt": "\x00"})
		case 2:
			ingesttest.WriteFiles(t, dir, map[string]string{"genindex.html": fmt.Sprintf(
				`<html><meta name="generator" content="Sphinx"><ul><li>term<ul><li><a href="%d/%d.md">of it</a></ul></ul>`, rng.IntN(3), rng.IntN(10))})
		case 3:
			now := time.Now()
			os.Chtimes(name, now, now)
		default:
			os.MkdirAll(filepath.Dir(name), 0o755)
			if err := os.WriteFile(name, []byte(text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 20 {
		edit()
	}
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := generate(t, f, nil)
	for range 50 {
		edits := rng.IntN(4)
		for range edits {
			edit()
		}
		full := generate(t, f, nil)
		now := generate(t, f, &before.Generation)
		if now == nil {
			if !bytes.Equal(full.lines, before.lines) || !cmp.Equal(full.skipped, before.skipped) {
				t.Fatal("a change was not seen")
			}
			continue
		}
		if edits == 0 {
			t.Fatal("a change was seen where there is none")
		}
		if !bytes.Equal(now.lines, full.lines) {
			t.Fatalf("an update makes other passages than a build (-update +build)\n%s", cmp.Diff(string(now.lines), string(full.lines)))
		}
		if diff := cmp.Diff(now.skipped, full.skipped); diff != "" {
			t.Fatalf("skipped (-update +build)\n%s", diff)
		}
		if diff := cmp.Diff(now.Files, full.Files); diff != "" {
			t.Fatalf("files (-update +build)\n%s", diff)
		}
		checkKept(t, before, now)
		before = now
	}
}

func TestSharedLines(t *testing.T) {
	for _, test := range []struct {
		a, b       string
		head, tail int
	}{
		{"", "", 0, 0},
		{"", "a\n", 0, 0},
		{"a\nb\nc\n", "a\nB\nc\n", 2, 2},
		{"a\nc\n", "a\nb\nc\n", 2, 2},
		{"a\nb\nc\n", "a\nc\n", 2, 2},
		{"a\nb\n", "a\nb\n", 4, 0},
		{"a\na\n", "a\na\na\n", 4, 0},
		{"xa\nb\n", "ya\nb\n", 0, 2},
		{"xa\n", "a\n", 0, 0},
		{"b\nxa\n", "b\na\n", 2, 0},
		{"ab\n", "ac\n", 0, 0},
	} {
		if head, tail := sharedLines([]byte(test.a), []byte(test.b)); head != test.head || tail != test.tail {
			t.Errorf("%q and %q: %d and %d, want %d and %d", test.a, test.b, head, tail, test.head, test.tail)
		}
	}
}

// Only complete lines are shared, and all lines before and after the difference
// are.
func FuzzSharedLines(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("a\nc\n", "a\nb\nc\n")
	f.Add("a\na\na\n", "a\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.TrimSuffix(a, "\n")+"\n", strings.TrimSuffix(b, "\n")+"\n"
		head, tail := sharedLines([]byte(a), []byte(b))
		if head < 0 || tail < 0 || head+tail > min(len(a), len(b)) || a[:head] != b[:head] || a[len(a)-tail:] != b[len(b)-tail:] {
			t.Fatalf("%q and %q share %d and %d bytes", a, b, head, tail)
		}
		for _, s := range []string{a, b} {
			if middle := s[head : len(s)-tail]; head > 0 && s[head-1] != '\n' || middle != "" && !strings.HasSuffix(middle, "\n") {
				t.Fatalf("%q is cut within a line: %d and %d bytes", s, head, tail)
			}
		}
		x, y := strings.SplitAfter(a[head:len(a)-tail], "\n"), strings.SplitAfter(b[head:len(b)-tail], "\n")
		if x[0] != "" && x[0] == y[0] || len(x) > 1 && len(y) > 1 && x[len(x)-2] == y[len(y)-2] {
			t.Fatalf("%q and %q share more than %d and %d bytes", a, b, head, tail)
		}
	})
}

func TestUpdateReadsChangedOnly(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("# Number %d\n\n%s\n", i, ingesttest.Words(fmt.Sprintf("text%d", i), 50))
	}
	ingesttest.WriteFiles(t, dir, files)
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := generate(t, f, nil)
	if diff := cmp.Diff(Changes{New: 100}, f.Changes()); diff != "" {
		t.Errorf("changes of a build (-want +got)\n%s", diff)
	}
	ingesttest.WriteFiles(t, dir, map[string]string{"50.md": "# Fifty\n\nIt has changed.\n", "new.md": "# New\n\nIt is new.\n"})
	os.Remove(filepath.Join(dir, "70.md"))
	now := generate(t, f, &before.Generation)
	if diff := cmp.Diff(Changes{New: 1, Changed: 1, Removed: 1, Same: 98}, f.Changes()); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
	if n := len(now.kept); n != 3 {
		t.Errorf("%d runs, want those before, between and after what has changed", n)
	}
	if kept := checkKept(t, before, now); kept >= int64(len(now.lines)) || kept < int64(len(now.lines))*95/100 {
		t.Errorf("%d of %d bytes were kept", kept, len(now.lines))
	}
	for what, damage := range map[string]func(g *preparedGeneration){
		"another folder":            func(g *preparedGeneration) { g.Source.Location = t.TempDir() },
		"another kind":              func(g *preparedGeneration) { g.Source.Kind = KindSite },
		"damaged passages":          func(g *preparedGeneration) { flip(t, g.Path(passage.ShardName(0))) },
		"damaged list of files":     func(g *preparedGeneration) { flip(t, g.Path(FilesName)) },
		"no list of files":          func(g *preparedGeneration) { os.Remove(g.Path(FilesName)) },
		"files not in the manifest": func(g *preparedGeneration) { g.Files = nil },
	} {
		g := generate(t, f, nil)
		damage(g)
		if now := generate(t, f, &g.Generation); now == nil || len(now.kept) > 0 {
			t.Errorf("%s: something was taken over", what)
		}
	}
}

// flip flips a bit of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A file can be written again within the same tick of the file system's clock,
// so the time of a fresh file proves nothing.
func TestUpdateDoesNotTrustFreshTimes(t *testing.T) {
	whole := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	for _, test := range []struct {
		name    string
		written time.Time
		built   time.Duration // time after that
		trusted bool
	}{
		{"of seconds, within the tick", whole, time.Second, false},
		{"of seconds, after it", whole, 3 * time.Second, true},
		{"of fractions, within the tick", whole.Add(4 * time.Millisecond), 10 * time.Millisecond, false},
		{"of fractions, after it", whole.Add(4 * time.Millisecond), time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.md")
			put := func(text string) {
				ingesttest.WriteFiles(t, dir, map[string]string{"a.md": text})
				os.Chtimes(path, test.written, test.written)
			}
			put("one")
			f, err := NewFolder(dir, folder.Options{})
			if err != nil {
				t.Fatal(err)
			}
			before := generate(t, f, nil)
			before.Created = test.written.Add(test.built)
			put("two")
			switch now := generate(t, f, &before.Generation); {
			case test.trusted && now != nil:
				t.Error("a file of the same size and time was read again")
			case !test.trusted && (now == nil || !bytes.Contains(now.lines, []byte("two"))):
				t.Error("the change was not seen")
			}
		})
	}
}

// Records survive a write and a read.
func TestRecords(t *testing.T) {
	h := header{"context", boilerplate{"b": "Was this page", "a": "of help?"}, paragraphSample{"guide/a.md": {true, "12345678abcdefgh"}, "guide/ab.md": {true, ""}, "x": {}}, packTerms("indexes", map[string][]string{"guide/a.md#x": {"x", "y"}, "guide/a.md": nil})}
	want := []record{
		{Name: "guide/a.md", Size: 5, ModTime: time.Unix(1_700_000_000, 123_456_789), Hash: source.Hash([]byte("a")), Length: 10, Passages: 2},
		{Name: "guide/ab.md", Size: 1 << 40, ModTime: time.Unix(-5, 0), Context: "other", Offset: 10, Dropped: 3},
		{Name: "guide", Offset: 10, Length: 1 << 50, Passages: 1, Skipped: []generation.Skipped{{Name: "guide:12", Reason: "a table"}, {}}},
		{Name: "https://docs.example.com/guide/", Hash: source.Hash(nil), Offset: 10 + 1<<50},
	}
	g := generation.Generation{Dir: confined.In(t.TempDir())}
	if err := writeRecords(confined.Of(g.Path(FilesName)), h, want); err != nil {
		t.Fatal(err)
	}
	gotHeader, got, err := readRecords(g)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, gotHeader); diff != "" {
		t.Errorf("header (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got)\n%s", diff)
	}
}

// writeFilesTable writes FilesName with the given sections.
func writeFilesTable(t testing.TB, path string, version int, all, terms, files []byte) {
	t.Helper()
	out, err := container.Create(confined.Of(path), filesKind, version)
	if err != nil {
		t.Fatal(err)
	}
	out.Section("all")
	out.Write(all)
	out.Section("terms")
	out.Write(terms)
	out.Section("files")
	out.Write(files)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// Records of another version, and corrupt records with valid checksums, are
// reported as errors.
func TestCorruptRecords(t *testing.T) {
	good := (&record{Name: "a.md"}).append([]byte{1}, "")
	long := (&record{Length: 1<<63 - 1}).append((&record{Length: 1}).append([]byte{2}, ""), "")
	for _, test := range []struct {
		name              string
		version           int
		all, terms, files []byte
		want              string
	}{
		{"version", filesVersion + 1, []byte{0, 0, 0}, []byte{0}, good, "written by a newer docsearch"},
		{"nothing", filesVersion, nil, nil, nil, "a number is none"},
		{"cut", filesVersion, []byte{0, 0, 0}, []byte{0}, good[:len(good)-1], "a number is none"},
		{"too many documents", filesVersion, []byte{0, 0, 0}, []byte{0}, []byte{100}, "more is said to follow than does"},
		{"long text", filesVersion, []byte{100}, []byte{0}, good, "more is said to follow than does"},
		{"long name of terms", filesVersion, []byte{0, 0, 0}, []byte{100}, good, "more is said to follow than does"},
		{"shared with nothing", filesVersion, []byte{0, 0, 0}, []byte{0}, []byte{1, 3}, "a name continues a missing name"},
		{"an incomplete digest", filesVersion, []byte{0, 0, 1, 0, 1, 'a', 1, 3, 'x', 'y', 'z'}, []byte{0}, good, "a digest is incomplete"},
		{"long lines", filesVersion, []byte{0, 0, 0}, []byte{0}, long, "more bytes of lines than there can be"},
		{"rest", filesVersion, []byte{0, 0, 0}, []byte{0}, append(good[:len(good):len(good)], 0), "nothing should follow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := generation.Generation{Dir: confined.In(t.TempDir())}
			writeFilesTable(t, g.Path(FilesName), test.version, test.all, test.terms, test.files)
			if _, _, err := readRecords(g); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func FuzzReadRecords(f *testing.F) {
	all := (paragraphSample{"a.md": {true, "12345678"}, "ab.md": {}}).append([]byte{1, 'x', 1, 1, 'd', 1, 'p'})
	one := func(r record) []byte { return r.append([]byte{1}, "") }
	two := func(a, b record) []byte { return b.append(a.append([]byte{2}, ""), a.Name) }
	f.Add(all, []byte{0}, one(record{Name: "a.md", Size: 1, ModTime: time.Unix(1, 1), Length: 10, Passages: 2}))
	f.Add(all, []byte{1, 'n', 1}, two(record{Name: "a.md", Length: 5}, record{Name: "ab.md", Length: 5, Skipped: []generation.Skipped{{Name: "ab.md:1", Reason: "why"}}}))
	f.Add([]byte{0, 0, 0}, []byte{0}, two(record{Name: "a.md", Length: 1<<63 - 1}, record{Name: "a.md", Length: 11}))
	f.Add([]byte{0}, []byte{0}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, all, terms, files []byte) {
		g := generation.Generation{Dir: confined.In(t.TempDir())}
		writeFilesTable(t, g.Path(FilesName), filesVersion, all, terms, files)
		lines := []byte("line\nline\n")
		if err := os.WriteFile(g.Path(passage.ShardName(0)), lines, 0o644); err != nil {
			t.Fatal(err)
		}
		g.Files = []generation.FileInfo{{Name: passage.ShardName(0), Size: int64(len(lines)), CRC32: fmt.Sprintf("%08x", crc32.ChecksumIEEE(lines))}}
		e := openPrevious(&g, generation.Source{})
		if e == nil {
			return
		}
		defer e.close()
		if !e.listed {
			return
		}
		for _, r := range e.records {
			_ = lines[r.Offset : r.Offset+r.Length]
		}
		// Valid records survive another write and read.
		again := generation.Generation{Dir: confined.In(t.TempDir())}
		if err := writeRecords(confined.Of(again.Path(FilesName)), e.header, e.records); err != nil {
			t.Fatal(err)
		}
		h, records, err := readRecords(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e.header, h) + cmp.Diff(e.records, records); diff != "" {
			t.Error(diff)
		}
	})
}

// BenchmarkUpdate reports the cost of an update after a change of one file in a
// hundred, relative to the cost of a full build.
func BenchmarkUpdate(b *testing.B) {
	dir := b.TempDir()
	const pages = 10_000
	page := func(i, edition int) {
		text := fmt.Sprintf("<html><body><main><h1>Page %d</h1><p>edition %d %s</p>", i, edition, ingesttest.Words(fmt.Sprintf("intro%d", i), 100))
		for s := range 5 {
			text += fmt.Sprintf("<h2 id=s%d>Section %d</h2><p>%s</p>", s, s, ingesttest.Words(fmt.Sprintf("text%d", i), 180))
		}
		name := filepath.Join(dir, fmt.Sprintf("%02d", i/100), fmt.Sprintf("%d.html", i))
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for i := range pages {
		page(i, 0)
	}
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	before := generate(b, f, nil)
	full := time.Since(began)
	edition := 0
	var updates time.Duration
	for b.Loop() {
		b.StopTimer()
		edition++
		for i := 0; i < pages; i += 100 {
			page(i, edition)
		}
		b.StartTimer()
		began := time.Now()
		if _, err := f.Prepare(b.Context(), confined.In(b.TempDir()), &before.Generation, nil); err != nil {
			b.Fatal(err)
		}
		updates += time.Since(began)
	}
	b.ReportMetric(float64(updates)/float64(b.N)/float64(full), "of-a-build")
	b.ReportMetric(full.Seconds(), "build-s")
}
