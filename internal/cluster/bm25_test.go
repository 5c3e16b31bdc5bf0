package cluster

import "testing"

func TestBM25(t *testing.T) {
	var e BM25
	for _, bag := range []string{"walrus walrus ice ice ice ice", "walrus ice", "ice @walrus", "sea sea", ""} {
		e.Add(bag)
	}
	if e.average() != 3 { // the bag without words does not count
		t.Fatalf("average length %v, want 3", e.average())
	}
	ids := func(text string, limit int) (ids string) {
		for _, n := range e.Best(text, limit) {
			ids += []string{"long", "short", "symbol", "none", "empty"}[n] + " "
		}
		return ids
	}
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		// By the formula: 2/(2+6/3) = .5 of the idf for the long bag, and 1/(1+2/3) = .6
		// for the short one.
		{"walrus", 10, "short long "},
		{"walrus", 1, "short "},
		// 4/(4+6/3) = .667 for the long bag, and .6 for the others.
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
