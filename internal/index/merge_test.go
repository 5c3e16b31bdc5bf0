package index

import (
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	result := func(confidence float64, hits ...Hit) Result { return Result{Hits: hits, Confidence: confidence} }
	about := func(r Result) Result { r.signals.NamedPage = true; return r }
	hit := func(id string, score float64) Hit { return Hit{Passage: passage.Passage{ID: id}, Score: score} }
	for _, tt := range []struct {
		name    string
		results []Result
		topK    int
		want    []string
	}{
		{name: "none"},
		{name: "one database keeps its order", topK: 2, results: []Result{result(0.9, hit("a1", 3), hit("a2", 2), hit("a3", 1))}, want: []string{"a1", "a2"}},
		{name: "scores do not compare, confidence does", topK: 2,
			results: []Result{result(0.3, hit("a1", 900)), result(0.9, hit("b1", 2))}, want: []string{"b1", "a1"}},
		{name: "a big one does not crowd out a small one", topK: 3,
			results: []Result{result(0.9, hit("a1", 10), hit("a2", 9.9), hit("a3", 9.8)), result(0.8, hit("b1", 1))}, want: []string{"a1", "b1", "a2"}},
		{name: "irrelevant hits are dropped", topK: 9,
			results: []Result{result(0.05, hit("a1", 10)), result(0.8, hit("b1", 1))}, want: []string{"b1"}},
		{name: "unless all are", topK: 9, results: []Result{result(0.05, hit("a1", 10)), result(0.08, hit("b1", 1))}, want: []string{"b1", "a1"}},
		{name: "scores of zero", topK: 9, results: []Result{result(0.5, hit("a1", 0), hit("a2", 0)), result(0.4)}, want: []string{"a1", "a2"}},
		{name: "a page about the name beats mentions of it", topK: 2,
			results: []Result{result(0.9, hit("a1", 10)), about(result(0.6, hit("b1", 1)))}, want: []string{"b1", "a1"}},
		{name: "also a doubtful one", topK: 2,
			results: []Result{result(0.1, hit("a1", 10)), about(result(0.06, hit("b1", 1)))}, want: []string{"b1", "a1"}},
		{name: "ties go to the first", topK: 9, results: []Result{result(0.5, hit("a1", 1)), result(0.5, hit("b1", 1))}, want: []string{"a1", "b1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, m := range Merge(tt.results, tt.topK) {
				got = append(got, m.ID)
				if tt.results[m.From].Hits[0].ID[0] != m.ID[0] {
					t.Errorf("%s is said to be from result %d", m.ID, m.From)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
