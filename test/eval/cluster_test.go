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
		// By the formula: 2/(2+6/3) = .5 of the idf for the long passage, and 1/(1+2/3) = .6
		// for the short one.
		{"walrus", 10, "short long "},
		{"walrus", 1, "short "},
		// 4/(4+6/3) = .667 for the long passage, and .6 for the others.
		{"ice", 10, "long short symbol "},
		{"walrus @walrus", 1, "symbol "},
		{"walrus ice ice ice ice ice ice ice ice", 1, "long "},
		{"absent", 10, ""},
	} {
		if got := ids(tt.text, tt.limit); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestClusterDenialFloors(t *testing.T) {
	searches := func(answered, wrong int) (list []judgedSearch) {
		for i := range 200 {
			s := judgedSearch{search: search{Answerable: i < 100}}
			s.Denied = i < answered || i >= 100 && i < 100+wrong
			list = append(list, s)
		}
		return list
	}
	local := searches(90, 2)
	for _, tt := range []struct {
		clustered []judgedSearch
		want      int
	}{
		{searches(90, 2), 0}, {searches(87, 5), 0}, {searches(86, 5), 1}, {searches(95, 6), 1}, {searches(80, 9), 2},
	} {
		if got := denialMisses(local, tt.clustered); len(got) != tt.want {
			t.Errorf("%d figures below their floor, want %d: %v", len(got), tt.want, got)
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
		var out output
		if tt.remote.check(&out, local); len(out.misses) != tt.want {
			t.Errorf("%d figures below their floor, want %d: %v", len(out.misses), tt.want, out.misses)
		}
	}
}
