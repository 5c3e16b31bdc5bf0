package lexical

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// A query that contains a key of the thesaurus is expanded by its targets, see expand. A
// key that it only resembles is less certain: its targets do not change the ranking, but
// are worth a query of their own. "Split a row into many" resembles "split column into
// rows", which leads to string_to_table.

const (
	// minResemblance is the cosine from which a key resembles a query. Between .55 and .6,
	// denials quote the most phrases of the answers (make eval ONLY=phrases).
	minResemblance = .6
	// generalShare is what is left of it for an entry for all databases.
	generalShare = .9
)

// Related returns a query for what a text may be about in a database with these names: the
// targets of the thesaurus entry whose key resembles the text the most, or "".
func (a *Analyzer) Related(text string, names []string) string {
	if !a.thesauri {
		return ""
	}
	words := a.contentWords(text, names)
	m := newMatcher(a, openThesaurus(thesaurusData), wordTerms(words))
	m.text, m.content, m.names = text, words, names
	return strings.ReplaceAll(m.thesaurus.text(m.mostSimilar()), string(rune(exactMark)), "")
}

// wordTerms returns the terms of the words that are searched, each once.
func wordTerms(words []contentWord) (terms []queryTerm) {
	for _, w := range words {
		if w.kind == word && w.isSearched() &&
			!slices.ContainsFunc(terms, func(t queryTerm) bool { return t.term == w.term }) {
			terms = append(terms, queryTerm{term: w.term})
		}
	}
	return terms
}

// mostSimilar returns the compiled targets of the entry whose key resembles the query the
// most, or "". The two have the rarest word of the key in common, and at least one other.
func (m *matcher) mostSimilar() (targets string) {
	weights := make([]float64, len(m.terms))
	total := 0.
	for i, t := range m.terms {
		weights[i] = backgroundRarity(backgroundShare(t.term))
		total += weights[i]
	}
	best := 0.
	var others []int
	m.entries(func(i, _ int, e compiledEntry) {
		var common uint64
		common, others = m.commonWords(i, e.key, others[:0])
		if bits.OnesCount64(common) < 2 && !e.isSequence {
			return
		}
		shared := 0.
		for rest := common; rest != 0; rest &= rest - 1 {
			shared += weights[bits.TrailingZeros64(rest)]
		}
		all := shared
		for _, place := range others {
			all += backgroundRarity(backgroundShare(m.thesaurus.word(place)))
		}
		cosine := shared / math.Sqrt(all*total)
		if e.names == "" {
			cosine *= generalShare
		}
		if cosine >= minResemblance && cosine > best && m.allows(e) {
			targets, best = e.targets, cosine
		}
	})
	return targets
}

// commonWords returns the mask of the query's terms that are in a key, which the i-th is,
// and appends the places of the key's other words to others. It counts alternates as the
// terms.
func (m *matcher) commonWords(i int, key string, others []int) (uint64, []int) {
	common := uint64(1) << i
	for key != "" {
		if key[0] == fillerMark {
			_, key = m.thesaurus.next(key[1:])
			continue
		}
		var place int
		place, key = m.thesaurus.next(key)
		j := slices.Index(m.places, place)
		if j < 0 {
			j = m.alternate(place)
		}
		if j < 0 {
			others = append(others, place)
		} else {
			common |= 1 << j
		}
	}
	return common, others
}
