package main

import (
	"testing"

	"github.com/docsearch/docsearch/internal/eval"
)

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
