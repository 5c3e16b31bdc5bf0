package quicksearch

import (
	"testing"

	"github.com/docsearch/docsearch/internal/index/lexical"
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
