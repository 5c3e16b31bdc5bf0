package main

import (
	"testing"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/index"
)

func TestBestPassages(t *testing.T) {
	e := &engine{passages: []index.Found{{ID: "long"}, {ID: "short"}, {ID: "symbol"}, {ID: "none"}, {ID: "empty"}}, postings: make(map[string][]posting)}
	for n, bag := range []string{"walrus walrus ice ice ice ice", "walrus ice", "ice @walrus", "sea sea", ""} {
		e.add(n, bag)
	}
	e.measure()
	if e.average != 3 { // the passage without terms does not count
		t.Fatalf("average length %v, want 3", e.average)
	}
	ids := func(text string, limit int) (ids string) {
		for _, f := range e.best(text, limit) {
			ids += f.ID + " "
		}
		return ids
	}
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		// By the formula: 2/(2+6*(.5+.5*6/3)) = .182 of the idf for the long passage, and
		// 1/(1+6*(.5+.5*2/3)) = .167 for the short one.
		{"walrus", 10, "long short "},
		{"walrus", 1, "long "},
		{"walrus @walrus", 1, "symbol "},
		{"walrus walrus walrus walrus ice", 1, "long "},
		{"absent", 10, ""},
	} {
		if got := ids(tt.text, tt.limit); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestClusterFloors(t *testing.T) {
	figures := func(ndcg float64, answered int) *comparison {
		c := &comparison{answerable: 100, answered: answered, webOnly: 100, webConfident: 2}
		c.pages = []eval.Measures{{NDCG10: ndcg, Success5: 1}}
		c.names = []eval.Measures{{Success1: 1}}
		return c
	}
	local := figures(.7, 90)
	for _, tt := range []struct {
		remote *comparison
		want   int
	}{
		{figures(.7, 90), 0}, {figures(.69, 88), 0}, {figures(.67, 90), 1}, {figures(.67, 80), 2},
	} {
		if got := tt.remote.misses(local); len(got) != tt.want {
			t.Errorf("%d figures below their floor, want %d: %v", len(got), tt.want, got)
		}
	}
}
