package lexical

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/container"
)

// A Candidate is a passage that another search engine has found.
type Candidate struct {
	Document string // identifies its document
	Place    int    // number of passages of the document before it
	Record   []byte // see Exported
}

const (
	// ownRepetitions is the number of times that a term of weight 1 is in the text of a
	// search for candidates: other weights are rounded to the nearest number of times.
	ownRepetitions = 5
	// maxRepetitions limits the length of that text.
	maxRepetitions = 20
)

// Search ranks candidates like Index.Search. find returns the candidates for a text of
// terms, of which each is repeated by its weight: those with the highest BM25 scores of
// Exported.Bag. Hit.Passage and the argument of Query.Accept are
// indexes of candidates. Hit.Document numbers their documents in the order of their names. If find returns all
// passages with a term of the query, the result is that of Index.Search, except for pages
// with more terms than records contain, and for families: all of their documents may be hits.
func (s *Statistics) Search(q Query, find func(terms string) ([]Candidate, error)) ([]Hit, Signals, error) {
	if q.Limit <= 0 {
		return nil, Signals{}, nil
	}
	x := s.index // a copy, to which the candidates are added
	p, err := x.plan(&q)
	if err != nil {
		return nil, Signals{}, err
	}
	terms, _, err := x.openTerms(&p)
	if err != nil {
		return nil, Signals{}, err
	}
	if len(terms) == 0 {
		return x.searchRelaxed(&q, &p)
	}
	found, err := find(searchText(terms, &p))
	if err != nil {
		return nil, Signals{}, err
	}
	set, err := newCandidateSet(found, wantedTerms(terms, &p), x.single)
	if err != nil {
		return nil, Signals{}, err
	}
	set.fill(&x)
	accept := q.Accept
	q.Accept = func(ordinal uint32) bool {
		n := set.numbers[ordinal]
		return n >= 0 && (accept == nil || accept(uint32(n)))
	}
	hits, signals, err := x.searchRelaxed(&q, &p)
	for i := range hits {
		hits[i].Passage = uint32(set.numbers[hits[i].Passage])
	}
	return hits, signals, err
}

// searchText returns the text of a search for candidates.
func searchText(terms []scoredTerm, p *plan) string {
	var words []string
	seen := map[string]bool{}
	for i := range terms {
		t := &terms[i]
		times := ownRepetitions
		if !t.symbol {
			times = max(1, min(maxRepetitions, int(math.Round(ownRepetitions*t.weight))))
		}
		seen[t.term] = true
		for range times {
			words = append(words, t.term)
		}
	}
	for _, c := range p.constraints {
		for _, w := range c.words {
			if !c.not && !seen[w.term] {
				seen[w.term] = true
				words = append(words, w.term)
			}
		}
	}
	return strings.Join(words, " ")
}

// wantedTerms returns the terms whose postings a search reads.
func wantedTerms(terms []scoredTerm, p *plan) map[string]*postingBuffer {
	wanted := map[string]*postingBuffer{}
	for i := range terms {
		wanted[terms[i].term] = &postingBuffer{}
	}
	for _, list := range [][]phraseConstraint{p.constraints, p.phrases} {
		for _, c := range list {
			for _, w := range c.words {
				wanted[w.term] = &postingBuffer{}
			}
		}
	}
	return wanted
}

// A candidateSet is the index of candidates in memory. Each of its segments has those of a
// segment of the database in order, and one more passage that is never accepted: it has
// the terms of the page that none of the candidates has.
type candidateSet struct {
	numbers   []int // index of the candidate at each ordinal; -1: none
	passages  []byte
	segments  []byte
	postings  map[string]postingList
	documents int
}

// newCandidateSet builds the set with the postings of the wanted terms.
func newCandidateSet(found []Candidate, wanted map[string]*postingBuffer, single bool) (*candidateSet, error) {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
		if found[i].Place < 0 || len(found[i].Record) < passageSize {
			return nil, fmt.Errorf("candidate %d of %s: %w", found[i].Place, found[i].Document, errRecord)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(found[a].Document, found[b].Document), cmp.Compare(found[a].Place, found[b].Place), cmp.Compare(a, b))
	})
	// Engines may return an object twice, from different replicas.
	order = slices.CompactFunc(order, func(a, b int) bool { return found[a].Document == found[b].Document && found[a].Place == found[b].Place })
	s := &candidateSet{postings: map[string]postingList{}}
	segment := uint32(0)
	for len(order) > 0 {
		first := &found[order[0]]
		n := 1
		for n < len(order) && found[order[n]].Document == first.Document && segmentAt(found[order[n]].Place, single) == segmentAt(first.Place, single) {
			n++
		}
		if err := s.addSegment(segment, found, order[:n], wanted, single); err != nil {
			return nil, err
		}
		if n < len(order) && found[order[n]].Document != first.Document {
			s.documents++
		}
		order = order[n:]
		segment++
	}
	s.segments = binary.LittleEndian.AppendUint32(s.segments, uint32(len(s.numbers)))
	s.segments = binary.LittleEndian.AppendUint32(s.segments, uint32(s.documents))
	var w listWriter
	for term, buffer := range wanted {
		if len(buffer.list) == 0 {
			continue
		}
		w.single = single
		list := w.encode(nil, buffer.list, buffer.positions)
		l, err := openPostingList(container.InMemory("candidates", list), 0, int64(len(list)), segment, single)
		if err != nil {
			return nil, err
		}
		s.postings[term] = l
	}
	return s, nil
}

// segmentAt returns the number of a passage's segment within its document.
func segmentAt(place int, single bool) int {
	if single {
		return place
	}
	return place / maxSegmentPassages
}

// addSegment adds the candidates of one segment.
func (s *candidateSet) addSegment(segment uint32, found []Candidate, members []int, wanted map[string]*postingBuffer, single bool) error {
	s.segments = binary.LittleEndian.AppendUint32(s.segments, uint32(len(s.numbers)))
	s.segments = binary.LittleEndian.AppendUint32(s.segments, uint32(s.documents))
	page := map[*postingBuffer]uint8{} // impacts of the page's other terms
	for local, n := range members {
		c := &found[n]
		s.numbers = append(s.numbers, n)
		s.passages = append(s.passages, c.Record[:passageSize]...)
		err := eachRecorded(c.Record, maxLevel(single), func(t recordedTerm) {
			buffer := wanted[string(t.term)]
			switch {
			case buffer == nil:
			case t.positions == nil:
				page[buffer] = t.pageImpact
			default:
				p := posting{segment: segment, local: uint8(local), impact: t.impact, pageImpact: t.pageImpact}
				p.from, p.count = uint32(len(buffer.positions)), uint32(len(t.positions))
				buffer.positions = append(buffer.positions, t.positions...)
				buffer.list = append(buffer.list, p)
			}
		})
		if err != nil {
			return fmt.Errorf("candidate %d of %s: %w", c.Place, c.Document, err)
		}
	}
	if single || len(members) == maxSegmentPassages {
		return nil
	}
	s.numbers = append(s.numbers, -1)
	s.passages = append(s.passages, make([]byte, passageSize)...)
	for buffer, impact := range page {
		if n := len(buffer.list); n > 0 && buffer.list[n-1].segment == segment {
			continue
		}
		p := posting{segment: segment, local: uint8(len(members)), pageImpact: impact, from: uint32(len(buffer.positions)), count: 1}
		buffer.positions = append(buffer.positions, 0)
		buffer.list = append(buffer.list, p)
	}
	return nil
}

// fill makes x, a copy of the statistics' index, an index of the candidates.
func (s *candidateSet) fill(x *Index) {
	x.passages, x.segments = container.InMemory("candidates", s.passages), container.InMemory("candidates", s.segments)
	x.order, x.candidateLists = container.InMemory("candidates", nil), s.postings
	x.families = container.Section{} // records have none
	x.documentCount = max(x.documentCount, s.documents+1)
}
