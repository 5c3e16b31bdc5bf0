package lexical

import (
	"cmp"
	"slices"
)

// A Span is a byte range of a text that matches a term of the query.
type Span struct {
	Start, End int
	Term       string
}

// A Highlighter finds the words of one query in texts.
type Highlighter struct {
	analyzer *Analyzer
	wanted   map[string]bool // terms
}

// Highlighter returns a highlighter for the query's own words, without question words and
// names of the database unless there are no others.
func (a *Analyzer) Highlighter(q Query) *Highlighter {
	p := a.plan(&q, func(string) bool { return false })
	h := &Highlighter{a, make(map[string]bool, len(p.terms))}
	for _, t := range p.terms {
		if t.fromQuery {
			h.wanted[t.term] = true
		}
	}
	for _, s := range append(q.Keywords[:len(q.Keywords):len(q.Keywords)], q.Text) {
		scan(s, 0, func(t token) {
			if t.kind == compound {
				h.wanted[exactTerm(exactMark, s[t.start:t.end])] = true
			}
		})
	}
	delete(h.wanted, "")
	return h
}

// Spans returns the matches of the query's words in text, in any inflection. The spans are
// ascending and do not overlap.
func (h *Highlighter) Spans(text string) []Span {
	var spans []Span
	scan(text, 0, func(t token) {
		term := h.analyzer.term(t.kind, text[t.start:t.end])
		if t.kind == compound {
			term = exactTerm(exactMark, text[t.start:t.end])
		}
		if h.wanted[term] {
			spans = append(spans, Span{t.start, t.end, term})
		}
	})
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start),
			cmp.Compare(b.End, a.End))
	})
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
