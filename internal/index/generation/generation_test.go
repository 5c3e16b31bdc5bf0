package generation

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/container"
)

// build commits a generation with one file of the given contents.
func build(t *testing.T, dir, contents string) {
	t.Helper()
	b, err := Begin(dir, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	if err := os.WriteFile(b.File("data").String(), []byte(contents), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(Manifest{Passages: len(contents)}, nil); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	var got string
	err := Load(dir, func(g Generation) error {
		data, err := os.ReadFile(g.Path("data"))
		got = string(data)
		if err == nil && g.Passages != len(data) {
			t.Errorf("manifest of %d bytes over a file of %d", g.Passages, len(data))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return got
}

func TestCommitReplacesTheGeneration(t *testing.T) {
	dir := t.TempDir()
	if _, err := Current(dir); !errors.Is(err, ErrNoIndex) {
		t.Fatalf("before the first build: %v, want ErrNoIndex", err)
	}
	for _, want := range []string{"one", "second"} {
		build(t, dir, want)
		if got := contents(t, dir); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	generations, err := filepath.Glob(filepath.Join(dir, Folder, "g*"))
	if err != nil || len(generations) != 1 {
		t.Errorf("generations left: %v, %v; want one", generations, err)
	}
}

func TestAbortKeepsTheOldGeneration(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "old")
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.File("data").String(), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := errors.New("disk full")
	if err := b.Commit(Manifest{}, func(*Manifest) (Publication, error) { return nil, want }); !errors.Is(err, want) {
		t.Fatalf("Commit: %v, want %v", err, want)
	}
	if got := contents(t, dir); got != "old" {
		t.Errorf("got %q after a failed commit", got)
	}
	if _, err := b.Dir.Lstat(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the failed generation is still there: %v", err)
	}
	build(t, dir, "new")
	if got := contents(t, dir); got != "new" {
		t.Errorf("got %q from the build after", got)
	}
}

// The remains of a killed build do not affect reads or the next build.
func TestBeginAfterKilledBuild(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "old")
	dead := filepath.Join(dir, Folder, "g000002")
	if err := os.Mkdir(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); got != "old" {
		t.Errorf("got %q", got)
	}
	build(t, dir, "new")
	if got := contents(t, dir); got != "new" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the killed build's folder still exists: %v", err)
	}
}

func TestBeginReportsLockHolder(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	_, err = Begin(dir, 0)
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("second Begin: %v, want ErrBusy with process %d", err, os.Getpid())
	}
}

func TestVerifyFindsChangedFiles(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"flipped":   func(p string) error { return os.WriteFile(p, []byte("dbta"), 0o644) },
		"truncated": func(p string) error { return os.Truncate(p, 1) },
		"removed":   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			build(t, dir, "data")
			g, err := Current(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Verify(nil); err != nil {
				t.Fatal(err)
			}
			if err := change(g.Path("data")); err != nil {
				t.Fatal(err)
			}
			if g.Verify(nil) == nil {
				t.Error("Verify found nothing")
			}
		})
	}
}

// The checksums that Commit takes from SetChecksum and containers match the files.
func TestCommitChecksums(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	text := []byte("known beforehand")
	const block = 16 << 10 // block size of containers
	for name, size := range map[string]int{"empty": 0, "small": 100, "block": block - 64, "big": 40 * block, "odd": 16*block + 12345} {
		w, err := container.Create(b.File(name), "TEST", 7)
		if err != nil {
			t.Fatal(err)
		}
		w.Section("one")
		w.Write(bytes.Repeat([]byte{1, 2, 3}, size/6))
		w.Section("two")
		w.Write(make([]byte, size-size/6*3))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if size, crc, ok := container.Sum(b.File(name)); !ok {
			t.Errorf("%s: %d bytes, %08x, not taken for a container", name, size, crc)
		}
	}
	for name, data := range map[string][]byte{"known": text, "plain": []byte("docsrch\nTEST"), "nothing": {}} {
		if err := os.WriteFile(b.File(name).String(), data, 0o644); err != nil {
			t.Fatal(err)
		}
		b.BeginSync(name)
	}
	b.SetChecksum("known", int64(len(text)), container.Checksum(text))
	if err := b.Commit(Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	g, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Files) != 8 {
		t.Errorf("%d files", len(g.Files))
	}
	if err := g.Verify(nil); err != nil {
		t.Error(err)
	}
}

func TestCurrentRefusesBadManifests(t *testing.T) {
	var corrupt *container.CorruptError
	var version *container.VersionError
	for name, tt := range map[string]struct {
		manifest string
		as       any
	}{
		"empty":            {"", &corrupt},
		"invalid JSON":     {"{", &corrupt},
		"no format":        {`{"generation":"g000001"}`, &corrupt},
		"no checksum":      {`{"format":2,"generation":"g000001"}`, &corrupt},
		"wrong checksum":   {"{\n  \"checksum\": \"01234567\",\n  \"format\": 2,\n  \"generation\": \"g000001\"\n}\n", &corrupt},
		"wrong in 1, too":  {"{\n  \"checksum\": \"01234567\",\n  \"format\": 1,\n  \"generation\": \"g000001\"\n}\n", &corrupt},
		"newer":            {`{"format":99,"generation":7}`, &version},
		"path out":         {`{"format":1,"generation":"../../g000001"}`, &corrupt},
		"file out":         {`{"format":1,"generation":"g000001","files":[{"name":"../x"}]}`, &corrupt},
		"no version":       {`{"format":1,"generation":"g000001","edition":{"version":"../3"}}`, &corrupt},
		"endless version":  {`{"format":1,"generation":"g000001","edition":{"version":"` + strings.Repeat("1.", 20) + `"}}`, &corrupt},
		"wrong type":       {`{"format":1,"generation":7}`, &corrupt},
		"generation gone":  {`{"format":1,"generation":"g000009"}`, &corrupt},
		"too long":         {strings.Repeat(" ", maxManifest+1), &corrupt},
		"negative version": {`{"format":-1}`, &version},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			build(t, dir, "data")
			if err := os.WriteFile(ManifestPath(dir), []byte(tt.manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			err := Load(dir, func(g Generation) error {
				_, err := os.ReadFile(g.Path("data"))
				return err
			})
			if !errors.As(err, tt.as) {
				t.Errorf("%v, want %T", err, tt.as)
			}
		})
	}
}

func TestReadersDuringBuilds(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, "0")
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !done.Load() {
				contents(t, dir)
			}
		})
	}
	defer readers.Wait()
	defer done.Store(true)
	for i := range 50 {
		build(t, dir, strings.Repeat("x", i))
	}
}

func TestReasons(t *testing.T) {
	var skipped []Skipped
	add := func(why string, names ...string) {
		for _, name := range names {
			skipped = append(skipped, Skipped{name, why})
		}
	}
	add("hidden", ".git")
	add("no reader for .png files", "a.png", "b.png", "c.png")
	add(Unreadable+"permission denied", "a.md", "b.md")
	add("empty", "c.md")
	const want = "cannot read: permission denied (2, such as a.md); no reader for .png files (3, such as a.png); hidden (.git); empty (c.md)"
	if got := Reasons(skipped); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	add("one", "x")
	add("two", "y", "y")
	add("three", "z")
	const cut = "cannot read: permission denied (2, such as a.md); no reader for .png files (3, such as a.png); two (2, such as y); hidden (.git); empty (c.md); 2 more for other reasons"
	if got := Reasons(skipped); got != cut {
		t.Errorf("got  %s\nwant %s", got, cut)
	}
	err := error(&NoPassagesError{skipped[:1]})
	if got := err.Error(); !errors.Is(err, ErrNoPassages) || got != "the source has no passages; skipped: hidden (.git)" {
		t.Error(got)
	}
}

func TestSummary(t *testing.T) {
	var skipped, want []Skipped
	for i := range 10 {
		skipped = append(skipped, Skipped{Name: fmt.Sprintf("%d.png", i), Reason: "no reader"})
	}
	skipped = append(skipped, Skipped{Name: "a.md", Reason: "empty"}, Skipped{Name: "b.md", Reason: "empty"})
	want = []Skipped{{Name: "0.png and 9 more", Reason: "no reader"}, {Name: "a.md", Reason: "empty"}, {Name: "b.md", Reason: "empty"}}
	if diff := cmp.Diff(want, Summary(skipped)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i := range 1000 {
		skipped = append(skipped, Skipped{Name: "x.md", Reason: fmt.Sprintf("reason %d", i)})
	}
	short := Summary(skipped)
	if n := len(short); n > 50 || short[n-1].Reason != "1012 in total" {
		t.Errorf("%d entries, the last %v", n, short[n-1])
	}
}

func TestLoadHead(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Passages: 1,
		Edition: &Edition{Version: "3.11", Evidence: []string{"titles"}}, Confidence: &Confidence{Weights: []float64{1, 2}, Threshold: .5},
		Source: Source{Kind: "folder", Location: "/docs", Root: "/docs/html"}, Skipped: []Skipped{{Name: "a.md", Reason: "empty"}},
	}
	if err := b.Commit(m, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	var head Generation
	if err := LoadHead(dir, func(g Generation) error { head = g; return nil }); err != nil {
		t.Fatal(err)
	}
	want := Manifest{Format: whole.Format, Generation: whole.Generation, Edition: whole.Edition, Files: whole.Files, Confidence: whole.Confidence, Source: Source{Root: whole.Source.Root}}
	if diff := cmp.Diff(want, head.Manifest); diff != "" || head.Dir.String() != whole.Dir.String() {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format":1,"generation":"g000001","files":[{"name":"a","size":1,"crc32":"00000000"}],"confidence":{"weights":[1,2]}}`))
	f.Add([]byte(`{"format":3}`))
	f.Add([]byte("{\n  \"checksum\": \"4b95f515\",\n  \"format\": 2,\n  \"generation\": \"g000001\"\n}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest("fuzz", data)
		if err == nil && (generationNumber(m.Generation) == 0 || filepath.Base(m.Generation) != m.Generation) {
			t.Fatalf("took generation %q", m.Generation)
		}
		head, headErr := parseHead("fuzz", data)
		if err == nil && (headErr != nil || head.Generation != m.Generation || head.Source.Root != m.Source.Root || len(head.Files) != len(m.Files)) {
			t.Fatalf("the head is %+v, %v, the manifest %+v", head, headErr, m)
		}
	})
}

func TestConfirm(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := b.Commit(Manifest{Created: made, Passages: 1}, nil); err != nil {
		t.Fatal(err)
	}
	before, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := before.LastVerified(); !got.Equal(made) {
		t.Errorf("known at %v, want %v", got, made)
	}
	if b, err = Begin(dir, 0); err != nil {
		t.Fatal(err)
	}
	now := made.Add(time.Hour)
	if err := b.Confirm(before, now, nil); err != nil {
		t.Fatal(err)
	}
	after, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	if after.Generation != before.Generation || !after.LastVerified().Equal(now) {
		t.Errorf("generation %s known at %v", after.Generation, after.LastVerified())
	}
	if _, err := b.Dir.Lstat(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the generation that was not made: %v", err)
	}
	if b, err = Begin(dir, 0); err != nil {
		t.Fatal("the lock is still held: ", err)
	}
	b.Abort()
}

// Any change to a manifest is detected as damage.
func TestChangedManifestIsDamage(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{Passages: 7, Source: Source{Kind: "folder", Location: "/docs"}, Confidence: &Confidence{Weights: []float64{1, 2}, Threshold: 0.5}}
	if err := b.Commit(m, nil); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(ManifestPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	for before, after := range map[string]string{
		`"threshold": 0.5`:      `"threshold": 0.1`,
		`"location": "/docs"`:   `"location": "/home"`,
		`"passages": 7`:         `"passages": 8`,
		`"checksum": "`:         `"checksum": "0`,
		"{\n  \"checksum":       "{ \"checksum",
		`"generation": "g00000`: `"generation": "g00001`,
		"\n}\n":                 "\n}",
	} {
		data := strings.Replace(string(written), before, after, 1)
		if data == string(written) {
			t.Fatalf("the manifest has no %s:\n%s", before, written)
		}
		if err := os.WriteFile(ManifestPath(dir), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		var corrupt *container.CorruptError
		if _, err := Current(dir); !errors.As(err, &corrupt) || corrupt.File != ManifestPath(dir) {
			t.Errorf("%s for %s: %v, want damage of the manifest", after, before, err)
		}
	}
	// A manifest of format 1 has no checksum and is accepted.
	old := strings.Replace(string(written), `"format": 2`, `"format": 1`, 1)
	_, body, found := strings.Cut(old, checksumSuffix)
	if !found {
		t.Fatalf("the manifest has no checksum:\n%s", written)
	}
	if err := os.WriteFile(ManifestPath(dir), []byte("{"+body), 0o644); err != nil {
		t.Fatal(err)
	}
	if g, err := Current(dir); err != nil || g.Passages != 7 || g.Format != 1 {
		t.Errorf("a manifest of format 1: %+v, %v", g.Manifest, err)
	}
	if b, err = Begin(dir, 0); err != nil {
		t.Fatal(err)
	}
	g, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Confirm(g, time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	if g, err = Current(dir); err != nil || g.Format != Format {
		t.Errorf("confirmed: format %d, %v", g.Format, err)
	}
}
