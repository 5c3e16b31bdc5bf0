package lexical

import (
	"cmp"
	"slices"
)

// A Span is a piece of a text, in bytes.
type Span struct{ Start, End int }

// Highlight returns where in text the query's own words stand, whatever their
// ending: ascending, and apart from one another.
func (a *Analyzer) Highlight(q Query, text string) []Span {
	p := a.plan(&q, func(string) bool { return false })
	wanted := make(map[string]bool, len(p.terms))
	for _, t := range p.terms {
		if t.own {
			wanted[t.term] = true
		}
	}
	for _, s := range append(q.Keywords[:len(q.Keywords):len(q.Keywords)], q.Text) {
		scan(s, 0, func(t token) {
			if t.kind == compound {
				wanted[exactTerm(exactMark, s[t.start:t.end])] = true
			}
		})
	}
	delete(wanted, "")
	var spans []Span
	scan(text, 0, func(t token) {
		term := a.term(t.kind, text[t.start:t.end])
		if t.kind == compound {
			term = exactTerm(exactMark, text[t.start:t.end])
		}
		if wanted[term] {
			spans = append(spans, Span{t.start, t.end})
		}
	})
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	apart := spans[:0]
	for _, s := range spans {
		if n := len(apart); n > 0 && s.Start < apart[n-1].End {
			apart[n-1].End = max(apart[n-1].End, s.End)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}
