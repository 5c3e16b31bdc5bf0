package cluster

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A BM25 ranks bags of words by the scores that Weaviate defines: without the factor k1+1,
// and with the repetitions of a word in a query as its weight. The zero value is empty.
type BM25 struct {
	postings map[string][]posting
	lengths  []float64 // of the bags
	words    float64   // in all bags
	filled   float64   // bags with words
}

type posting struct {
	bag   int
	count float64
}

// Add adds the next bag, whose words are separated by spaces.
func (e *BM25) Add(bag string) {
	counts := make(map[string]float64)
	length := 0.
	for word := range strings.FieldsSeq(bag) {
		counts[word]++
		length++
	}
	if e.postings == nil {
		e.postings = make(map[string][]posting)
	}
	for word, count := range counts {
		e.postings[word] = append(e.postings[word], posting{len(e.lengths), count})
	}
	e.lengths = append(e.lengths, length)
	e.words += length
	e.filled += min(1, length)
}

// Terms returns the number of distinct words.
func (e *BM25) Terms() int { return len(e.postings) }

// average returns the average length of the bags, in which empty ones do not count.
func (e *BM25) average() float64 { return e.words / max(1, e.filled) }

// Best returns the numbers of the bags with the highest scores for a query, best first, at
// most limit. Bags without its words are not among them.
func (e *BM25) Best(query string, limit int) []int {
	weights := make(map[string]float64)
	var words []string
	for word := range strings.FieldsSeq(query) {
		if weights[word]++; weights[word] == 1 {
			words = append(words, word)
		}
	}
	scores := make(map[int]float64)
	n, average := float64(len(e.lengths)), e.average()
	for _, word := range words {
		list := e.postings[word]
		found := float64(len(list))
		weight := weights[word] * math.Log1p((n-found+.5)/(found+.5))
		for _, at := range list {
			scores[at.bag] += weight * at.count / (at.count + BM25K1*(1-BM25B+BM25B*e.lengths[at.bag]/average))
		}
	}
	ranked := make([]int, 0, len(scores))
	for n := range scores {
		ranked = append(ranked, n)
	}
	slices.SortFunc(ranked, func(x, y int) int { return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(x, y)) })
	return ranked[:min(limit, len(ranked))]
}
