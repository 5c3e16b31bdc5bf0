// Package rank detects changes of the ranking by comparing it with testdata/rank.txt.
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
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

var update = flag.Bool("update", false, "write testdata/rank.txt")

// TestRanking searches docsearch's own documentation and that of a fictional program
// with typical queries.
func TestRanking(t *testing.T) {
	databases := map[string]*index.Database{
		// The tables change with every measurement.
		"docs": build(t, filepath.Join("..", "..", "docs"), folder.Options{Exclude: []string{"quality.md", "performance.md"}}),
		"kiln": build(t, filepath.Join("testdata", "kiln"), folder.Options{}),
	}
	measures := map[string][]eval.Measures{}
	var ranks strings.Builder
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
		if q.Set == "kiln" {
			fmt.Fprintf(&ranks, "%.2f %s\n", m.MRR10, q.Text)
		}
	}
	docs, kiln := summarize(measures["docs"]), summarize(measures["kiln"])
	got := fmt.Sprintf("docs: %v\nkiln: %v\n\n%s", docs, kiln, &ranks)
	golden := filepath.Join("testdata", "rank.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	before, want, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	_, got, _ = strings.Cut(got, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ranks differ from testdata/rank.txt (-file +now); to accept them, run: go test ./test/rank -update\n%s", diff)
	}
	// Edits to the documentation change its ranks slightly.
	if was := parse(t, strings.TrimPrefix(before, "docs: ")); docs.first < was.first-2 || docs.five < was.five-1 || docs.mrr < was.mrr-.06 {
		t.Errorf("docs: %v, was %v; to accept it, run: go test ./test/rank -update", docs, was)
	}
}

// A summary counts the queries with the answer first and among the first five.
type summary struct {
	first, five, queries int
	mrr                  float64
}

const summaryFormat = "recall@1 %d, recall@5 %d of %d, mrr %.3f"

func (s summary) String() string {
	return fmt.Sprintf(summaryFormat, s.first, s.five, s.queries, s.mrr)
}

func parse(t *testing.T, text string) (s summary) {
	t.Helper()
	format := strings.ReplaceAll(summaryFormat, "%.3f", "%f")
	if _, err := fmt.Sscanf(text, format, &s.first, &s.five, &s.queries, &s.mrr); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

func summarize(all []eval.Measures) summary {
	m := eval.Mean(all)
	n := float64(m.Queries)
	return summary{int(n*m.Success1 + .5), int(n*m.Success5 + .5), m.Queries, m.MRR10}
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
func build(t *testing.T, folder string, opt folder.Options) *index.Database {
	t.Helper()
	dir := t.TempDir()
	source, err := ingest.NewFolder(folder, opt)
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
