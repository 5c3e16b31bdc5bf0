package lexical

import (
	"cmp"
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
	// denials quote the most phrases of the answers (go run ./test/eval -only phrases).
	minResemblance = .6
	// generalShare is what is left of it for an entry for all databases.
	generalShare = .9
)

// Related returns queries for what a text may be about in a database with these names: the
// targets of the limit thesaurus entries whose keys resemble the text the most, best first.
func (a *Analyzer) Related(text string, names []string, limit int) []string {
	if !a.thesauri {
		return nil
	}
	words := a.contentWords(text, names)
	m := newMatcher(a, openThesaurus(thesaurusData), wordTerms(words))
	m.text, m.content, m.names = text, words, names
	var queries []string
	for _, e := range m.resembling() {
		if len(queries) == limit {
			break
		}
		targets := strings.ReplaceAll(m.thesaurus.text(e.targets), string(rune(exactMark)), "")
		if !slices.Contains(queries, targets) {
			queries = append(queries, targets)
		}
	}
	return queries
}

// wordTerms returns the terms of the words that are searched, each once.
func wordTerms(words []contentWord) (terms []queryTerm) {
	for _, w := range words {
		if w.kind == word && w.isSearched() && !slices.ContainsFunc(terms, func(t queryTerm) bool { return t.term == w.term }) {
			terms = append(terms, queryTerm{term: w.term})
		}
	}
	return terms
}

// A resemblance is an entry whose key resembles a query.
type resemblance struct {
	targets string // compiled
	cosine  float64
}

// resembling returns the entries whose keys resemble the query, best first: they have the
// rarest word of their key in common with it, and at least one other.
func (m *matcher) resembling() []resemblance {
	weights := make([]float64, len(m.terms))
	total := 0.
	for i, t := range m.terms {
		weights[i] = backgroundRarity(backgroundShare(t.term))
		total += weights[i]
	}
	var found []resemblance
	m.entries(func(i, _ int, e compiledEntry) {
		common, all := m.commonWords(i, e.key, weights)
		if bits.OnesCount64(common) < 2 && !e.isSequence {
			return
		}
		shared := 0.
		for rest := common; rest != 0; rest &= rest - 1 {
			shared += weights[bits.TrailingZeros64(rest)]
		}
		r := resemblance{e.targets, shared / math.Sqrt(all*total)}
		if e.names == "" {
			r.cosine *= generalShare
		}
		if r.cosine >= minResemblance && m.allows(e) {
			found = append(found, r)
		}
	})
	slices.SortStableFunc(found, func(a, b resemblance) int { return cmp.Compare(b.cosine, a.cosine) })
	return found
}

// commonWords returns the mask of the query's terms that are in a key, which the i-th is,
// and the total weight of the key's words. It counts alternates as the terms.
func (m *matcher) commonWords(i int, key string, weights []float64) (common uint64, all float64) {
	common, all = 1<<i, weights[i]
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
		switch {
		case j < 0:
			all += backgroundRarity(backgroundShare(m.thesaurus.word(place)))
		case common>>j&1 == 0:
			common |= 1 << j
			all += weights[j]
		}
	}
	return common, all
}
