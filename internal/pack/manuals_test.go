package pack

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// manuals are real documentation in subfolders of DOCSEARCH_EVAL_DOCS.
var manuals = []string{"cmake", "django", "git", "nodejs", "postgresql", "python", "sqlite"}

// buildFolder builds a database from a folder and returns its generation.
func buildFolder(t testing.TB, source, dir string) generation.Generation {
	t.Helper()
	f, err := ingest.NewFolder(source, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := index.Build(t.Context(), dir, f, index.BuildOptions{Tool: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return generation.GenerationOf(dir, info.Manifest)
}

func testManifest(name string) Manifest {
	return Manifest{
		Name: name, Title: strings.ToUpper(name), Description: name + " documentation", Keywords: []string{name},
		License: "MIT", Attribution: "the authors", Source: Source{Kind: "folder"},
	}
}

func makeDraft(t testing.TB, g generation.Generation, name string) *Draft {
	t.Helper()
	d, err := Make(t.Context(), g, MakeOptions{Manifest: testManifest(name), Tool: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestManuals measures packs of real documentation: their sizes, and the bytes that an
// update fetches after 3% of the pages, chosen at random, were edited.
func TestManuals(t *testing.T) {
	docs := os.Getenv("DOCSEARCH_EVAL_DOCS")
	if docs == "" {
		t.Skip("DOCSEARCH_EVAL_DOCS names no documentation to pack")
	}
	var table strings.Builder
	var sum [5]float64
	for _, name := range manuals {
		source, err := filepath.EvalSymlinks(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		g := buildFolder(t, source, t.TempDir())
		start := time.Now()
		d := makeDraft(t, g, name)
		made := time.Since(start)
		m := d.Manifest
		size := len(d.Pack.Manifest) + len(d.Pack.Table) + len(d.Pack.Data)
		var database int64
		for _, f := range g.Files {
			database += f.Size
		}

		copied := filepath.Join(t.TempDir(), "docs")
		if err := os.CopyFS(copied, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		edited := editPages(t, copied, 0.03)
		next := makeDraft(t, buildFolder(t, copied, t.TempDir()), name)
		received := int(updateBytes(t, d, next)) + len(next.Pack.Manifest)
		nextSize := len(next.Pack.Manifest) + len(next.Pack.Table) + len(next.Pack.Data)
		chunks, _ := ParseTable(d.Pack.Table)
		fmt.Fprintf(&table, "%-10s text %.1f MB, passages %.1f MB, database %.1f MB, pack %.2f MB (%.3f of the text, %.3f of the passages, %.3f of the database), %d chunks, table %d, made in %v; edited %d pages: update %d bytes, %.1f%%\n",
			name, mb(m.TextBytes), mb(m.Lines.Size), mb(database), mb(int64(size)), ratio(size, m.TextBytes), ratio(size, m.Lines.Size), ratio(size, database),
			len(chunks.Chunks), len(d.Pack.Table), made.Round(10*time.Millisecond), edited, received, 100*ratio(received, int64(nextSize)))
		for i, v := range []int64{m.TextBytes, m.Lines.Size, database, int64(size), int64(received)} {
			sum[i] += float64(v)
		}
		if got := ratio(received, int64(nextSize)); got > 0.08 {
			t.Errorf("%s: the update fetches %.3f of the pack", name, got)
		}
	}
	t.Logf("\n%ssum: pack %.3f of the text, %.3f of the passages, %.3f of the database; updates %.3f of the packs",
		table.String(), sum[3]/sum[0], sum[3]/sum[1], sum[3]/sum[2], sum[4]/sum[3])
	if sum[3]/sum[0] > 0.3 {
		t.Errorf("the packs have %.3f of the text", sum[3]/sum[0])
	}
}

func mb(n int64) float64 { return float64(n) / 1e6 }

func ratio[A, B int | int64](a A, b B) float64 { return float64(a) / float64(b) }

// editPages appends a sentence to a paragraph of a share of the pages. It returns their
// number.
func editPages(t *testing.T, dir string, share float64) int {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".html") && !strings.Contains(path, "genindex") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	edited := 0
	for _, page := range pages {
		if float64(edited) >= share*float64(len(pages)) {
			break
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		at := strings.Index(text[len(text)/2:], "</p>")
		if at < 0 {
			continue
		}
		at += len(text) / 2
		if err := os.WriteFile(page, []byte(text[:at]+" This sentence is new in the next version of the manual."+text[at:]), 0o644); err != nil {
			t.Fatal(err)
		}
		edited++
	}
	return edited
}

// updateBytes returns the number of bytes that an update from one pack to the next
// fetches, without the manifest.
func updateBytes(t *testing.T, from, to *Draft) int64 {
	t.Helper()
	lines := assembled(t, from)
	table, err := ParseTable(from.Pack.Table)
	if err != nil {
		t.Fatal(err)
	}
	o := &memoryOrigin{&to.Pack}
	nextTable, rawTable, err := readTable(t.Context(), o, to.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	received, err := fetch(t.Context(), o, to.Manifest, nextTable, newLibrary(lines, table), filepath.Join(t.TempDir(), "part"), io.Discard, nil)
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(rawTable)) + received
}

// assembled returns a file with the lines of a pack.
func assembled(t *testing.T, d *Draft) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "lines"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	o := &memoryOrigin{&d.Pack}
	table, _, err := readTable(t.Context(), o, d.Manifest)
	if err == nil {
		_, err = fetch(t.Context(), o, d.Manifest, table, nil, filepath.Join(t.TempDir(), "part"), f, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A memoryOrigin is a pack in memory.
type memoryOrigin struct{ p *Pack }

func (o *memoryOrigin) Head(context.Context) (manifest, signatures []byte, err error) {
	return o.p.Manifest, o.p.Signatures, nil
}
func (o *memoryOrigin) Table(context.Context, int64) ([]byte, error) { return o.p.Table, nil }
func (o *memoryOrigin) Data(_ context.Context, offset, length int64) (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader(string(o.p.Data[offset : offset+length]))), offset, nil
}
func (o *memoryOrigin) Close() error { return nil }
