package embed

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// collections are judged queries; they are not part of the repository.
const collections = "../../../../shared/eval/classic"

// TestVectorsHelp checks that vectors improve the BM25 ranking, as they did when
// their weight was chosen.
func TestVectorsHelp(t *testing.T) {
	const weight = 0.3
	var gains []float64
	for _, set := range []string{"cranfield", "cisi", "cacm"} {
		documents, err := eval.ReadCorpus(filepath.Join(collections, set))
		if err != nil {
			t.Skipf("no collections here: %v", err)
		}
		queries, err := eval.ReadQueries(filepath.Join(collections, set))
		if err != nil {
			t.Fatal(err)
		}
		texts, ids := make([][]string, len(documents)), make([]string, len(documents))
		for i, d := range documents {
			texts[i], ids[i] = words(d.Title+" "+d.Title+" "+d.Text), d.ID
		}
		m, err := Train(t.Context(), len(texts), func(i int) ([]string, error) { return texts[i], nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, m)
		vectors := newMatrix(len(texts), dimensions)
		for i := range texts {
			if err := m.Vector(i, vectors.row(i)); err != nil {
				t.Fatal(err)
			}
		}
		byWords := bm25(texts)
		var before, after []eval.Measures
		for _, q := range queries {
			terms := words(q.Text)
			scores := share(byWords(terms), 1)
			before = append(before, eval.Measure(q.Ranked(order(ids, scores))))
			v, err := b.Query(terms)
			if err != nil {
				t.Fatal(err)
			}
			if v != nil {
				near := make([]float64, len(texts))
				for i := range near {
					near[i] = float64(vecmath.Dot(v, vectors.row(i)))
				}
				for i, s := range share(near, weight) {
					scores[i] += s
				}
			}
			after = append(after, eval.Measure(q.Ranked(order(ids, scores))))
		}
		gain := eval.Mean(after).NDCG10 - eval.Mean(before).NDCG10
		t.Logf("%s: nDCG@10 %.3f, with vectors %+.3f", set, eval.Mean(before).NDCG10, gain)
		gains = append(gains, gain)
	}
	var mean float64
	for _, g := range gains {
		mean += g / float64(len(gains))
	}
	if mean < 0.008 || slices.Min(gains) < -0.008 {
		t.Errorf("gains %.3f", gains)
	}
}

func words(text string) []string {
	const stop = " a an and are as at be by for from has have in is it its of on or that the this to was were which with how what when why do does i "
	return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }),
		func(w string) bool { return strings.Contains(stop, " "+w+" ") })
}

// bm25 returns a function that computes the BM25 scores of the texts.
func bm25(texts [][]string) func(query []string) []float64 {
	const k1, b = 1.2, 0.75
	counts := make([]map[string]float64, len(texts))
	df := make(map[string]float64)
	var mean float64
	for i, text := range texts {
		counts[i] = make(map[string]float64)
		for _, w := range text {
			counts[i][w]++
		}
		for w := range counts[i] {
			df[w]++
		}
		mean += float64(len(text)) / float64(len(texts))
	}
	return func(query []string) []float64 {
		scores := make([]float64, len(texts))
		for _, w := range query {
			idf := math.Log(1 + (float64(len(texts))-df[w]+0.5)/(df[w]+0.5))
			for i := range scores {
				if n := counts[i][w]; n > 0 {
					scores[i] += idf * n * (k1 + 1) / (n + k1*(1-b+b*float64(len(texts[i]))/mean))
				}
			}
		}
		return scores
	}
}

// share scales the scores so that the best one is weight.
func share(scores []float64, weight float64) []float64 {
	best := max(slices.Max(scores), 1e-9)
	for i := range scores {
		scores[i] *= weight / best
	}
	return scores
}

// order returns the ids, best first.
func order(ids []string, scores []float64) []string {
	list := make([]int, len(ids))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	ranked := make([]string, len(ids))
	for i, at := range list {
		ranked[i] = ids[at]
	}
	return ranked
}
