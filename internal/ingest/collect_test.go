package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// A preparer is a source.
type preparer interface {
	Prepare(ctx context.Context, dir string, before *disk.Generation, report progress.Func) (disk.Prepared, error)
	Changes() Changes
}

// A generation is what a source prepared, as the generation that it would become.
type generation struct {
	disk.Generation
	kept    []disk.Kept
	lines   []byte
	skipped []disk.Skipped
}

// generate lets the source prepare a generation, nil if nothing has changed.
func generate(t testing.TB, src preparer, before *disk.Generation) *generation {
	t.Helper()
	g := &generation{Generation: disk.Generation{Dir: t.TempDir()}}
	g.Created = time.Now().Add(time.Minute) // so that times of files are believed
	prepared, err := src.Prepare(t.Context(), g.Dir, before, nil)
	if err != nil {
		t.Fatal(err)
	}
	if prepared.Unchanged {
		return nil
	}
	g.Source, g.Skipped, g.kept = prepared.Source, prepared.Skipped, prepared.Kept
	entries, err := os.ReadDir(g.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(g.Path(e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		g.Files = append(g.Files, disk.FileInfo{Name: e.Name(), Size: int64(len(data)), CRC32: fmt.Sprintf("%08x", crc32.ChecksumIEEE(data))})
		if e.Name() == passage.ShardName(0) {
			g.lines = data
		}
	}
	if g.skipped, err = ReadSkipped(g.Generation); err != nil {
		t.Fatal(err)
	}
	return g
}

// checkKept makes sure that the runs that are said to be kept are, and returns
// how many bytes they have.
func checkKept(t *testing.T, before, now *generation) (n int64) {
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

// Whatever happens to a folder, an update makes the passages that a build
// makes, and takes over those of the files that have not changed.
func TestUpdateMakesWhatABuildMakes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	text := func() string {
		return fmt.Sprintf("# Title %d\n\n%s\n\n## Section\n\n%s\n", rng.IntN(3), wordsOf("intro", rng.IntN(200)), wordsOf("text", rng.IntN(900)))
	}
	edit := func() {
		name := filepath.Join(dir, fmt.Sprintf("%d", rng.IntN(3)), fmt.Sprintf("%d.md", rng.IntN(10)))
		switch rng.IntN(7) {
		case 0:
			os.Remove(name)
		case 1:
			write(t, dir, map[string]string{"a.md": "", "b.bin": "x", "c.txt": "\x00"})
		case 2:
			write(t, dir, map[string]string{"genindex.html": fmt.Sprintf(
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
	f, err := NewFolder(dir, t.TempDir(), Options{})
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
		checkKept(t, before, now)
		before = now
	}
}

func TestUpdateReadsOnlyWhatHasChanged(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("# Number %d\n\n%s\n", i, wordsOf(fmt.Sprintf("text%d", i), 50))
	}
	write(t, dir, files)
	f, err := NewFolder(dir, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := generate(t, f, nil)
	if diff := cmp.Diff(Changes{New: 100}, f.Changes()); diff != "" {
		t.Errorf("changes of a build (-want +got)\n%s", diff)
	}
	write(t, dir, map[string]string{"50.md": "# Fifty\n\nIt has changed.\n", "new.md": "# New\n\nIt is new.\n"})
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
	for what, damage := range map[string]func(g *generation){
		"another folder":            func(g *generation) { g.Source.Location = t.TempDir() },
		"another kind":              func(g *generation) { g.Source.Kind = KindSite },
		"damaged passages":          func(g *generation) { flip(t, g.Path(passage.ShardName(0))) },
		"damaged list of files":     func(g *generation) { flip(t, g.Path(FilesName)) },
		"no list of files":          func(g *generation) { os.Remove(g.Path(FilesName)) },
		"files not in the manifest": func(g *generation) { g.Files = nil },
	} {
		g := generate(t, f, nil)
		damage(g)
		if now := generate(t, f, &g.Generation); now == nil || len(now.kept) > 0 {
			t.Errorf("%s: something was taken over", what)
		}
	}
}

// flip changes a bit of a file.
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

// A file that was written just before it was read may be written again within
// the same tick of the file system's clock: its time says nothing.
func TestUpdateDoesNotTrustFreshTimes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "one"})
	at := time.Now()
	path := filepath.Join(dir, "a.md")
	os.Chtimes(path, at, at)
	f, err := NewFolder(dir, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := generate(t, f, nil)
	before.Created = at.Add(time.Second)
	write(t, dir, map[string]string{"a.md": "two"})
	os.Chtimes(path, at, at)
	if now := generate(t, f, &before.Generation); now == nil || !bytes.Contains(now.lines, []byte("two")) {
		t.Error("the change was not seen")
	}
	before.Created = at.Add(time.Hour)
	if generate(t, f, &before.Generation) != nil {
		t.Error("a file of the same size and time was read again")
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add([]byte(`{"files":3}` + "\n" + `{"path":"a.md","size":1,"offset":0,"length":5}` + "\n"))
	f.Add([]byte(`{"files":3,"context":"x"}` + "\n" + `{"path":"a.md","offset":-1,"length":99}` + "\n" + `{"path":"a.md","offset":9223372036854775807,"length":9223372036854775807}`))
	f.Add([]byte(`{"files":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		g := disk.Generation{Dir: dir}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(data)
		z.Close()
		for name, data := range map[string][]byte{FilesName: packed.Bytes(), passage.ShardName(0): []byte("line\nline\n")} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
			g.Files = append(g.Files, disk.FileInfo{Name: name, Size: int64(len(data)), CRC32: fmt.Sprintf("%08x", crc32.ChecksumIEEE(data))})
		}
		e := openEarlier(&g, disk.Source{})
		if e == nil {
			return
		}
		defer e.close()
		for _, r := range e.records {
			_ = e.lines.Data[r.Offset : r.Offset+r.Length]
		}
	})
}

// BenchmarkUpdate reports what reading a folder costs of which one file in a
// hundred has changed, as a part of what reading all of it costs.
func BenchmarkUpdate(b *testing.B) {
	dir := b.TempDir()
	const pages = 10_000
	page := func(i, edition int) {
		text := fmt.Sprintf("<html><body><main><h1>Page %d</h1><p>edition %d %s</p>", i, edition, wordsOf(fmt.Sprintf("intro%d", i), 100))
		for s := range 5 {
			text += fmt.Sprintf("<h2 id=s%d>Section %d</h2><p>%s</p>", s, s, wordsOf(fmt.Sprintf("text%d", i), 180))
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
	f, err := NewFolder(dir, b.TempDir(), Options{})
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
		if _, err := f.Prepare(b.Context(), b.TempDir(), &before.Generation, nil); err != nil {
			b.Fatal(err)
		}
		updates += time.Since(began)
	}
	b.ReportMetric(float64(updates)/float64(b.N)/float64(full), "of-a-build")
	b.ReportMetric(full.Seconds(), "build-s")
}
