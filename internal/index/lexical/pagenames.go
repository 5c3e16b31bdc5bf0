package lexical

import (
	"iter"
	"strings"
)

const (
	// minPageName is the length of the shortest name that PageNames returns.
	minPageName = 4
	// minIdentifier is the length of the shortest name that Identifiers returns.
	minIdentifier = 5
	// everydayShare is the share of the background corpus from which a word counts as an
	// everyday word: of 10,000 passages, 1,000 contain "test", 58 "psql".
	everydayShare = .01
)

// PageNames returns the names that are the subject of a page (see pageName), in lower case
// and without separators. It omits short names, everyday words and names of software with
// documentation of its own, because a query with one of these is not about this index.
func (x *Index) PageNames() ([]string, error) {
	var names []string
	for name, err := range x.termsWith(string(symbolMark) + ":") {
		if err != nil {
			return nil, err
		}
		if x.isDistinctive(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Identifiers returns the names that passages define, and the common short forms of these
// names, in lower case and without separators. It omits short ones.
func (x *Index) Identifiers() ([]string, error) {
	var names []string
	for name, err := range x.termsWith(string(symbolMark)) {
		if err != nil {
			return nil, err
		}
		name = strings.TrimPrefix(name, ".")
		if len(name) >= minIdentifier && isLowerOrDigit(name[0]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// termsWith yields what follows a prefix in the terms that have it.
func (x *Index) termsWith(prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		after, err := x.dictionary.search(0, x.dictionary.blocks, func(b int) (bool, error) {
			key, _, err := x.dictionary.key(b)
			return key >= prefixKey(prefix), err
		})
		if err != nil {
			yield("", err)
			return
		}
		for r, err := range x.dictionary.readTerms(max(0, after-1), x.dictionary.blocks) {
			if err != nil {
				yield("", err)
				return
			}
			rest, ok := strings.CutPrefix(string(r.term), prefix)
			if ok && !yield(rest, nil) || !ok && string(r.term) > prefix {
				return
			}
		}
	}
}

func (x *Index) isDistinctive(name string) bool {
	stem := x.analyzer.stemOf(name)
	return len(name) >= minPageName && stem != "" && !isTechnology(name) && backgroundShare(stem) < everydayShare
}
