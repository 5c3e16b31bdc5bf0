package lexical

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
)

// exportedIndex returns the statistics and the candidates of an index: all its passages.
func exportedIndex(tb testing.TB, x *Index) (*Statistics, []Candidate, []Exported) {
	tb.Helper()
	data, err := x.AppendStatistics(nil)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := DecodeStatistics(data)
	if err != nil {
		tb.Fatal(err)
	}
	candidates, all := make([]Candidate, x.Passages()), make([]Exported, x.Passages())
	places := map[uint32]int{}
	ordinal := uint32(0)
	err = x.Export(context.Background(), func(n uint32, e Exported) error {
		u, _, err := x.locate(n)
		if err != nil {
			return err
		}
		_, _, document, err := x.segment(u)
		if err != nil {
			return err
		}
		candidates[n] = Candidate{fmt.Sprintf("%06d", document), places[document], e.Record}
		all[n] = e
		places[document]++
		ordinal++
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if int(ordinal) != x.Passages() {
		tb.Fatalf("exported %d passages of %d", ordinal, x.Passages())
	}
	return s, candidates, all
}

// If all passages are candidates, the search is that in the index.
func TestSearchCandidates(t *testing.T) {
	for _, single := range []bool{false, true} {
		c := newCorpus(7)
		perDocument := 5
		if single {
			perDocument = 1
		}
		documents, fields := c.passages(400, perDocument, 40)
		x := build(t, documents, fields)
		s, candidates, _ := exportedIndex(t, x)
		for i := range 60 {
			q := Query{Text: c.words(3), Limit: 10}
			want, wantSignals, err := x.Search(q)
			if err != nil {
				t.Fatal(err)
			}
			asked := ""
			have, signals, err := s.Search(q, func(terms string) ([]Candidate, error) {
				asked = terms
				return candidates, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(have) != len(want) {
				t.Fatalf("single %v, query %d %q (%s): %d hits, want %d", single, i, q.Text, asked, len(have), len(want))
			}
			for k := range have {
				if have[k].Passage != want[k].Passage || math.Abs(have[k].Score-want[k].Score) > 1e-6 {
					t.Fatalf("query %q, hit %d: %+v, want %+v", q.Text, k, have[k], want[k])
				}
			}
			if signals.Coverage != wantSignals.Coverage || signals.MeanEvidence != wantSignals.MeanEvidence || signals.RelativeScore != wantSignals.RelativeScore {
				t.Fatalf("query %q: signals %+v, want %+v", q.Text, signals, wantSignals)
			}
		}
	}
}

// A candidate's record has the terms of its page, so that its page counts although the
// other passages of the page are no candidates.
func TestPageOfCandidates(t *testing.T) {
	x := build(t, []uint32{0, 0, 1, 1, 2}, []Fields{
		{Title: "Walrus", Page: "Arctic", Body: "walrus tusks"}, {Title: "Ice", Page: "Arctic", Body: "glacier glacier glacier"},
		{Title: "Walrus", Page: "Zoo", Body: "walrus pool"}, {Title: "Pool", Page: "Zoo", Body: "water"}, {Title: "Glacier", Body: "glacier"},
	})
	s, candidates, exported := exportedIndex(t, x)
	hits, _, err := s.Search(Query{Text: "walrus glacier", Limit: 5}, func(string) ([]Candidate, error) {
		return []Candidate{candidates[2], candidates[0]}, nil
	})
	if err != nil || len(hits) != 2 || hits[0].Passage != 1 || hits[0].Page <= hits[1].Page {
		t.Errorf("hits %+v, error %v; want the passage of the page about glaciers first", hits, err)
	}
	if bag := exported[0].Bag; strings.Count(bag, "walru") < 4 || !strings.Contains(bag, "tusk") {
		t.Errorf("bag %q: want the title three times and the body", bag)
	}
}

func FuzzRecord(f *testing.F) {
	x := build(f, []uint32{0, 0}, []Fields{{Title: "Walrus", Body: "tusks of a walrus"}, {Title: "Ice", Body: "glacier"}})
	s, candidates, _ := exportedIndex(f, x)
	for _, c := range candidates {
		f.Add(c.Record)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		s.Search(Query{Text: "walrus glacier", Limit: 5}, func(string) ([]Candidate, error) {
			return []Candidate{{"a", 0, record}, {"a", 1, candidates[1].Record}}, nil
		})
	})
}

func FuzzStatistics(f *testing.F) {
	x := build(f, []uint32{0, 0}, []Fields{{Title: "Walrus", Body: "tusks of a walrus"}, {Title: "Ice", Body: "glacier"}})
	data, err := x.AppendStatistics(nil)
	if err != nil {
		f.Fatal(err)
	}
	_, candidates, _ := exportedIndex(f, x)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := DecodeStatistics(data); err == nil {
			s.Search(Query{Text: "walrus glacier", Limit: 5}, func(string) ([]Candidate, error) { return candidates, nil })
		}
	})
}

func BenchmarkSearchCandidates(b *testing.B) {
	c := newCorpus(7)
	documents, fields := c.passages(2000, 5, 200)
	x := build(b, documents, fields)
	s, candidates, _ := exportedIndex(b, x)
	queries := make([]string, 100)
	for i := range queries {
		queries[i] = c.words(3)
	}
	for i := 0; b.Loop(); i++ {
		q := Query{Text: queries[i%len(queries)], Limit: 10}
		if _, _, err := s.Search(q, func(string) ([]Candidate, error) { return candidates[:200], nil }); err != nil {
			b.Fatal(err)
		}
	}
}
