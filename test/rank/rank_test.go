// Package rank keeps what the ranking is worth: a change that makes it better or
// worse shows in testdata/rank.txt.
package rank

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
)

var update = flag.Bool("update", false, "write testdata/rank.txt")

// TestRanking asks docsearch's own documentation, and that of a program that
// does not exist, what people might ask.
func TestRanking(t *testing.T) {
	databases := map[string]*index.Database{
		// The tables change with every measurement.
		"docs": build(t, filepath.Join("..", "..", "docs"), ingest.Options{Exclude: []string{"quality.md", "performance.md"}}),
		"kiln": build(t, filepath.Join("testdata", "kiln"), ingest.Options{}),
	}
	var b strings.Builder
	measures := map[string][]eval.Measures{}
	for _, q := range queries(t) {
		r, err := databases[q.Set].Search(t.Context(), index.Query{Text: q.Text, Names: []string{q.Set}})
		if err != nil {
			t.Fatal(err)
		}
		root := databases[q.Set].Info().Source.Root
		var places []eval.Place
		for _, h := range r.Hits {
			page, err := filepath.Rel(root, filepath.FromSlash(h.Path))
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, eval.Place{Page: filepath.ToSlash(page), Anchors: h.Anchors})
		}
		ranked, all := q.RankedPages(places)
		if q.Targets[0].Anchor != "" {
			ranked, all = q.RankedSections(places)
		}
		m := eval.Measure(ranked, all)
		measures[q.Set] = append(measures[q.Set], m)
		rank := "-"
		if m.MRR10 > 0 {
			rank = fmt.Sprint(int(1/m.MRR10 + .5))
		}
		fmt.Fprintf(&b, "%s %s: %s\n", q.Set, rank, q.Text)
	}
	for _, set := range []string{"docs", "kiln"} {
		m := eval.Mean(measures[set])
		n := float64(m.Queries)
		fmt.Fprintf(&b, "\n%s\nqueries: %d\nrecall@1: %.0f (%.0f%%)\nrecall@5: %.0f (%.0f%%)\nmrr: %.3f\n", set, m.Queries,
			n*m.Success1, 100*m.Success1, n*m.Success5, 100*m.Success5, m.MRR10)
	}
	golden := filepath.Join("testdata", "rank.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); diff != "" {
		t.Errorf("ranks (-want +got); if that is better, go test ./test/rank -update keeps it\n%s", diff)
	}
}

// queries reads testdata/queries.txt.
func queries(t *testing.T) []eval.Query {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []eval.Query
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		set, rest, _ := strings.Cut(line, " ")
		place, text, ok := strings.Cut(rest, " ")
		if !ok {
			t.Fatalf("%q is not database, page and query", line)
		}
		page, anchor, _ := strings.Cut(place, "#")
		all = append(all, eval.Query{Text: text, Set: set, Targets: []eval.Target{{Page: page, Anchor: anchor, Grade: 1}}})
	}
	return all
}

// build builds and opens a database of a folder.
func build(t *testing.T, folder string, opt ingest.Options) *index.Database {
	t.Helper()
	dir := t.TempDir()
	source, err := ingest.NewFolder(folder, dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, source, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	db, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
