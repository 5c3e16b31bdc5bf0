package quicksearch

import (
	"slices"
	"testing"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A passage far below the best one covers no terms: the next with them still has the bonus.
func TestSelectionCovers(t *testing.T) {
	s := selection{best: 1, missing: ^uint64(0), weights: []lexical.TermWeight{{Share: .5}, {Share: .5}}, rest: []candidate{
		{Hit: lexical.Hit{Passage: 1, Score: .9, Terms: 1}},
		{Hit: lexical.Hit{Passage: 2, Score: .8, Terms: 2}},
	}}
	s.cover(&lexical.Hit{Score: 1, Terms: 1})
	s.cover(&lexical.Hit{Score: .3, Terms: 2})
	if c := s.next(); c.Passage != 2 {
		t.Errorf("the next is passage %d, want the one with the missing term", c.Passage)
	}
	s.cover(&lexical.Hit{Score: covering, Terms: 2})
	if s.missing&2 != 0 {
		t.Error("a passage with a considerable score does not cover its term")
	}
}

// lastFound are the passages of the last search, by their places in it, as a cluster's.
type lastFound []string

func (p *lastFound) Passage(n uint32) (passage.Passage, error) {
	return passage.Passage{Text: (*p)[n]}, nil
}
func (p *lastFound) Members(uint32) ([]uint32, error)             { return nil, nil }
func (p *lastFound) Following(uint32) (n uint32, _ bool, _ error) { return }

// The number of a passage may be another one's in a later search.
func TestQuoteReadsLastFound(t *testing.T) {
	var found lastFound
	search := func(q lexical.Query) ([]lexical.Hit, lexical.Signals, error) {
		s := lexical.Signals{
			Text: q.Text, Terms: 3, Named: true, MeanEvidence: 1, LowestEvidence: .5, KnownShare: 1, Coverage: 1, RelativeScore: .6, Proximity: .5,
			Weights: []lexical.TermWeight{{Start: "cranks", Share: .5}, {Start: "widgets", Share: .5}},
		}
		if q.Text == "widgets" {
			found = lastFound{"none", "Widgets are here."}
			return []lexical.Hit{{Passage: 1, Score: 1, Terms: 2}}, s, nil
		}
		found = lastFound{"Cranks are here.", "Cranks are here."}
		return []lexical.Hit{{Passage: 0, Score: 1, Terms: 1}, {Passage: 1, Score: .9, Terms: 1}}, s, nil
	}
	a, err := Quote(Query{Text: "cranks widgets", Limit: 5, MaxBytes: 1000}, Properties{}, &found, search, nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, h := range a.Hits {
		texts = append(texts, h.Text)
	}
	if want := []string{"Cranks are here.", "Widgets are here."}; !slices.Equal(texts, want) {
		t.Errorf("quoted %q, want %q", texts, want)
	}
}
