package lexical

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/file/confined"
)

// evalDir returns the folder of the judged collections, or skips the test.
func evalDir(tb testing.TB) string {
	dir := os.Getenv("DOCSEARCH_EVAL")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "eval")
	}
	if _, err := os.Stat(filepath.Join(dir, "classic")); err != nil {
		tb.Skip("no judged collections: set DOCSEARCH_EVAL to their folder")
	}
	return dir
}

func TestClassicCollections(t *testing.T) {
	for _, tt := range []struct {
		name string
		ndcg float64 // minimum
	}{
		{"cranfield", .40}, {"cisi", .40}, {"cacm", .51}, {"scifact-train", .69}, {"cosqa-dev", .385},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(evalDir(t), "classic", tt.name)
			docs, err := eval.ReadCorpus(dir)
			if err != nil {
				t.Fatal(err)
			}
			queries, err := eval.ReadQueries(dir)
			if err != nil {
				t.Fatal(err)
			}
			b := NewBuilder(Options{})
			for i, d := range docs {
				b.Add(uint32(i), Fields{Title: d.Title, Body: d.Text})
			}
			path := filepath.Join(t.TempDir(), "lexical.idx")
			if err := b.Write(t.Context(), confined.Of(path)); err != nil {
				t.Fatal(err)
			}
			x, err := Open(confined.Of(path))
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			var all []eval.Measures
			for _, q := range queries {
				hits, _, err := x.Search(Query{Text: q.Text, Limit: 10})
				if err != nil {
					t.Fatal(err)
				}
				ids := make([]string, len(hits))
				for i, h := range hits {
					ids[i] = docs[h.Passage].ID
				}
				all = append(all, eval.Measure(q.Ranked(ids)))
			}
			m := eval.Mean(all)
			t.Logf("%s: %d documents, %d queries, nDCG@10 %s, MRR@10 %s, success@5 %s", tt.name, len(docs), m.Queries, three(m.NDCG10), three(m.MRR10), three(m.Success5))
			if m.NDCG10 < tt.ndcg {
				t.Errorf("nDCG@10 is %s, want %s", three(m.NDCG10), three(tt.ndcg))
			}
		})
	}
}

func three(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
