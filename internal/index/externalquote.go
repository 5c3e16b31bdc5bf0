package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// Quote is quicksearch.Index.Quote among the passages that find returns (see Search).
// Passages that it did not return are not quoted, as neighbors neither.
func (x *External) Quote(q quicksearch.Query,
	find func(text string, limit int) ([]Found, error)) (quicksearch.Answer, error) {
	found := &foundPassages{}
	p := quicksearch.Properties{Confidence: x.head.Confidence, Version: x.head.Version, Language: x.head.Language,
		Partial: x.head.Partial}
	return quicksearch.Quote(q, p, found, func(words lexical.Query) ([]lexical.Hit, lexical.Signals, error) {
		return x.statistics.Search(words, func(text string) ([]lexical.Candidate, error) {
			var err error
			if found.all, err = find(text, externalCandidates); err != nil {
				return nil, err
			}
			return candidatesOf(found.all), nil
		})
	}, nil)
}

// candidatesOf returns passages in the form in which they are ranked.
func candidatesOf(found []Found) []lexical.Candidate {
	candidates := make([]lexical.Candidate, len(found))
	for i, f := range found {
		candidates[i] = lexical.Candidate{Document: f.Document, Place: f.Place, Record: f.Record}
	}
	return candidates
}

// foundPassages are the passages among which Quote chooses, by their indexes.
type foundPassages struct {
	all    []Found
	sorted []uint32 // indexes by document and place; nil: not sorted yet
}

func (p *foundPassages) Passage(n uint32) (passage.Passage, error) { return p.all[n].Passage() }

// sort sorts the passages as lexical.Statistics numbers their documents.
func (p *foundPassages) sort() {
	if p.sorted != nil {
		return
	}
	p.sorted = make([]uint32, len(p.all))
	for i := range p.sorted {
		p.sorted[i] = uint32(i)
	}
	slices.SortFunc(p.sorted, func(a, b uint32) int {
		x, y := &p.all[a], &p.all[b]
		return cmp.Or(strings.Compare(x.Document, y.Document), cmp.Compare(x.Place, y.Place), cmp.Compare(a, b))
	})
}

// Members implements quicksearch.Passages. Documents are numbered in the order of their
// keys.
func (p *foundPassages) Members(document uint32) (members []uint32, err error) {
	p.sort()
	number := uint32(0)
	for i, n := range p.sorted {
		if i > 0 && p.all[n].Document != p.all[p.sorted[i-1]].Document {
			number++
		}
		if number == document {
			members = append(members, n)
		}
	}
	return members, nil
}

// Following implements quicksearch.Passages.
func (p *foundPassages) Following(n uint32) (next uint32, found bool, err error) {
	p.sort()
	at := slices.Index(p.sorted, n)
	for _, next := range p.sorted[at+1:] {
		if p.all[next].Document != p.all[n].Document || p.all[next].Place > p.all[n].Place+1 {
			break
		}
		if p.all[next].Place == p.all[n].Place+1 {
			return next, true, nil
		}
	}
	return 0, false, nil
}
