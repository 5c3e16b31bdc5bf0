package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/progress"
)

func open(t testing.TB, path string) *index.Database {
	t.Helper()
	db, err := index.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSearchFindsTheAnswer(t *testing.T) {
	dir := indextest.Database(t, 700)
	db := open(t, dir)
	r, err := db.Search(t.Context(), index.Query{Text: indextest.Question, TopK: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 5 || !strings.Contains(r.Hits[0].Text, indextest.Answer) {
		t.Fatalf("best of %d hits: %+v", len(r.Hits), r.Hits[0])
	}
	if !r.Confident {
		t.Errorf("not confident: %.2f", r.Confidence)
	}
	if r.Hits[0].Dense <= 0 {
		t.Error("the vectors had no part in it")
	}
	for i, h := range r.Hits[1:] {
		if h.Score > r.Hits[i].Score {
			t.Errorf("hit %d scores more than the one before it", i+2)
		}
	}
	outOfDomain, err := db.Search(t.Context(), index.Query{Text: "cheap flights from berlin to tokyo in april"})
	if err != nil || outOfDomain.Confident {
		t.Errorf("confident about an out-of-domain query: %.2f, %v", outOfDomain.Confidence, err)
	}

	quick, err := quicksearch.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Close()
	a, err := quick.Search(quicksearch.Query{Text: indextest.Question, Limit: 3})
	if err != nil || !a.Confident || len(a.Hits) != 3 || !strings.Contains(a.Hits[0].Text, indextest.Answer) {
		t.Errorf("the quick answer: confident %t, %d hits, %v", a.Confident, len(a.Hits), err)
	}
}

func TestSearchFilter(t *testing.T) {
	db := open(t, indextest.Database(t, 300))
	all, err := db.Search(t.Context(), index.Query{Text: indextest.Question, TopK: 20})
	if err != nil {
		t.Fatal(err)
	}
	page := all.Hits[0].Document()
	for filter, want := range map[string]func(key string) bool{
		"page-0.html": func(k string) bool { return k == page },
		"page-1?.html": func(k string) bool {
			return strings.Contains(k, "/page-1") && len(k[strings.LastIndex(k, "page-"):]) == len("page-10.html")
		},
		"!page-0.html":  func(k string) bool { return k != page },
		"no such thing": func(string) bool { return false },
	} {
		r, err := db.Search(t.Context(), index.Query{Text: indextest.Question, TopK: 20, Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		if filter != "no such thing" && len(r.Hits) == 0 {
			t.Errorf("filter %q: no hits", filter)
		}
		for _, h := range r.Hits {
			if !want(h.Document()) {
				t.Errorf("filter %q accepted %s", filter, h.Document())
			}
		}
	}
	if _, err := db.Search(t.Context(), index.Query{Text: "x", Keywords: []string{strings.Repeat("x", 20_000)}}); !errors.Is(err, index.ErrTooLong) {
		t.Errorf("an endless query: %v, want ErrTooLong", err)
	}
	if _, err := db.Read(index.Ref{Name: strings.Repeat("x", 20_000)}); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("an endless name: %v, want ErrNotFound", err)
	}
	if _, err := db.Search(t.Context(), index.Query{Text: "x", Filter: "[a"}); !errors.Is(err, index.ErrFilter) {
		t.Errorf("a pattern without an end: %v, want ErrFilter", err)
	}
}

func TestRead(t *testing.T) {
	db := open(t, indextest.Database(t, 50))
	for _, tt := range []struct {
		ref           index.Ref
		first, n, at  int
		id            string // of the passage wanted, or of the first
		total, wanted int
	}{
		{ref: index.Ref{Name: "p0000009"}, first: 2, n: 1, id: "p0000009"},
		{ref: index.Ref{Name: "p0000009", Neighbors: 1}, first: 1, n: 3, id: "p0000009", wanted: 1},
		{ref: index.Ref{Name: "p0000009", Neighbors: 100}, first: 0, n: 7, id: "p0000009", wanted: 2},
		{ref: index.Ref{Name: "p0000009", Whole: true}, first: 0, n: 7, id: "p0000009", wanted: 2},
	} {
		r, err := db.Read(tt.ref)
		if err != nil {
			t.Fatal(err)
		}
		if r.First != tt.first || len(r.Passages) != tt.n || r.Wanted != tt.wanted || r.Total != 7 || r.Passages[r.Wanted].ID != tt.id {
			t.Errorf("%+v: first %d, %d passages, wanted %d of %d", tt.ref, r.First, len(r.Passages), r.Wanted, r.Total)
		}
	}
	one, err := db.Read(index.Ref{Name: "p0000009"})
	if err != nil {
		t.Fatal(err)
	}
	url := one.Passages[0].URL
	page, _, _ := strings.Cut(url, "#")
	for name, wanted := range map[string]int{url: 0, page: -1, page + "/": -1, strings.Replace(page, "https:", "http:", 1): -1} {
		r, err := db.Read(index.Ref{Name: name})
		if err != nil || r.Wanted != wanted || wanted == -1 && len(r.Passages) != 7 {
			t.Errorf("%s: wanted %d of %d passages, %v", name, r.Wanted, len(r.Passages), err)
		}
	}
	for _, name := range []string{"", "absent", page + "x", "#", ":", ":7"} {
		if _, err := db.Read(index.Ref{Name: name}); !errors.Is(err, index.ErrNotFound) {
			t.Errorf("Read(%q): %v, want ErrNotFound", name, err)
		}
	}
}

func TestReadByPathAndLine(t *testing.T) {
	dir := t.TempDir()
	passages := `{"id": "a", "text": "one", "metadata": {"path": "docs/a.md", "start_line": 1, "end_line": 10}}
{"id": "b", "text": "two", "metadata": {"path": "docs/a.md", "start_line": 11, "end_line": 20}}
`
	if err := os.WriteFile(filepath.Join(dir, "passages.jsonl"), []byte(passages), 0o644); err != nil {
		t.Fatal(err)
	}
	build(t, dir)
	db := open(t, dir)
	for name, id := range map[string]string{"docs/a.md:1": "a", "docs/a.md:10": "a", "docs/a.md:15": "b"} {
		r, err := db.Read(index.Ref{Name: name})
		if err != nil || len(r.Passages) != 1 || r.Passages[0].ID != id {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if r, err := db.Read(index.Ref{Name: "docs/a.md:99"}); err != nil || r.Wanted != -1 || len(r.Passages) != 2 {
		t.Errorf("a line beyond the end: %+v, %v; want the document", r, err)
	}
}

func TestBuildReplacesAndReadersNotice(t *testing.T) {
	dir := t.TempDir()
	indextest.Passages(t, dir, 30)
	build(t, dir)
	old := open(t, dir)
	if old.Changed() {
		t.Error("changed before anything did")
	}
	if i := old.Info(); i.Passages != 30 || i.Stale != "" || i.Bytes == 0 || i.Documents != 5 {
		t.Errorf("info %+v", i)
	}
	// LEANN overwrites its own file in place. The index keeps its copy of the passages.
	indextest.Passages(t, dir, 40)
	if i := old.Info(); i.Stale == "" {
		t.Error("the passages have changed, and the index is not stale")
	}
	if _, err := old.Read(index.Ref{Name: "p0000029"}); err != nil {
		t.Errorf("the old generation does not read: %v", err)
	}
	build(t, dir)
	if !old.Changed() {
		t.Error("rebuilt, and not changed")
	}
	if i, err := index.Inspect(dir); err != nil || i.Passages != 40 || i.Stale != "" {
		t.Errorf("after the rebuild: %+v, %v", i, err)
	}
	rebuilt := open(t, dir)
	if err := os.Remove(generation.ManifestPath(dir)); err != nil {
		t.Fatal(err)
	}
	if !rebuilt.Changed() {
		t.Error("removed, and not changed")
	}
}

func TestBuildReportsSkippedLines(t *testing.T) {
	dir := t.TempDir()
	passages := "{\"id\": \"a\", \"text\": \"one\"}\ngarbage\n\n{\"id\": \"b\"}\n{\"id\": \"c\", \"text\": \"three\"}"
	if err := os.WriteFile(filepath.Join(dir, "passages.jsonl"), []byte(passages), 0o644); err != nil {
		t.Fatal(err)
	}
	info := build(t, dir)
	if info.Passages != 2 || len(info.Skipped) != 2 {
		t.Errorf("%d passages, skipped %v; want 2 and 2", info.Passages, info.Skipped)
	}
}

func TestBuildWithoutPassages(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "passages.jsonl"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{}); !errors.Is(err, index.ErrNoPassages) {
		t.Errorf("%v, want ErrNoPassages", err)
	}
	if _, err := index.Open(dir); !errors.Is(err, generation.ErrNoIndex) {
		t.Errorf("after a failed build: %v, want ErrNoIndex", err)
	}
}

func TestBuildIsCancelled(t *testing.T) {
	dir := t.TempDir()
	indextest.Passages(t, dir, 2000)
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stages := 0
	_, err = index.Build(ctx, dir, index.FromLEANN(found), index.BuildOptions{Report: func(progress.Event) {
		if stages++; stages == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, generation.Folder, "g*")); len(left) > 0 {
		t.Errorf("a cancelled build left %v", left)
	}
}

// Equal passages produce equal files.
func TestBuildIsReproducible(t *testing.T) {
	files := func() map[string]string {
		info, err := index.Inspect(indextest.Database(t, 600))
		if err != nil {
			t.Fatal(err)
		}
		sums := make(map[string]string)
		for _, f := range info.Files {
			sums[f.Name] = f.CRC32
		}
		sums["confidence"] = fmt.Sprint(*info.Confidence)
		return sums
	}
	a, b := files(), files()
	for name, sum := range a {
		if b[name] != sum {
			t.Errorf("%s: %s, then %s", name, sum, b[name])
		}
	}
}

func TestVerify(t *testing.T) {
	dir := indextest.Database(t, 600)
	r, err := index.Verify(t.Context(), dir, nil)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%v, %v", r.Problems, err)
	}
	if r.Recall == nil || r.Recall.Value < 0.99 || r.Recall.Sample < 100 {
		t.Errorf("recall %+v", r.Recall)
	}
	// Damage to any file is reported with the file's name, and never leads to a panic
	// or a wrong result.
	for _, f := range r.Files {
		t.Run(f.Name, func(t *testing.T) {
			g, err := generation.Current(dir)
			if err != nil {
				t.Fatal(err)
			}
			path := g.Path(f.Name)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer os.WriteFile(path, whole, 0o644)
			flips := 20
			if testing.Short() {
				flips = 4
			}
			for at := 3; at < len(whole); at += 1 + len(whole)/flips {
				damaged := append([]byte(nil), whole...)
				damaged[at] ^= 0x10
				if err := os.WriteFile(path, damaged, 0o644); err != nil {
					t.Fatal(err)
				}
				r, err := index.Verify(t.Context(), dir, nil)
				if err != nil || len(r.Problems) == 0 || !strings.Contains(r.Problems[0], f.Name) {
					t.Fatalf("flip at %d: %v, %v", at, r.Problems, err)
				}
				searchDamaged(t, dir)
			}
			for _, size := range []int64{0, 1, int64(len(whole) / 2), int64(len(whole) - 1)} {
				if err := os.Truncate(path, size); err != nil {
					t.Fatal(err)
				}
				r, err := index.Verify(t.Context(), dir, nil)
				if err != nil || len(r.Problems) == 0 {
					t.Fatalf("cut to %d: %v, %v", size, r.Problems, err)
				}
				searchDamaged(t, dir)
				if err := os.WriteFile(path, whole, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// searchDamaged checks that a damaged database returns the correct hit or an error.
func searchDamaged(t *testing.T, dir string) {
	t.Helper()
	db, err := index.Open(dir)
	if err != nil {
		return
	}
	defer db.Close()
	r, err := db.Search(t.Context(), index.Query{Text: indextest.Question, TopK: 3})
	if err != nil {
		var corrupt *container.CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%v, want *container.CorruptError", err)
		}
		return
	}
	if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Text, indextest.Answer) {
		t.Error("a wrong answer")
	}
}

func TestConcurrentSearches(t *testing.T) {
	db := open(t, indextest.Database(t, 600))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				r, err := db.Search(t.Context(), index.Query{Text: indextest.Question, Filter: "docs.example.org"})
				if err != nil || !strings.Contains(r.Hits[0].Text, indextest.Answer) {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func build(t testing.TB, dir string) index.Info {
	t.Helper()
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return info
}
