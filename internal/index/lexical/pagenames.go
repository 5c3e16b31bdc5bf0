package lexical

import "strings"

const (
	// minPageName is the length of the shortest name that PageNames returns.
	minPageName = 4
	// everydayShare is the share of the background corpus from which a word counts as an
	// everyday word: of 10,000 passages, 1,000 contain "test", 58 "psql".
	everydayShare = .01
)

// PageNames returns the names that are the subject of a page (see pageName), in lower case
// and without separators. It omits short names, everyday words and names of software with
// documentation of its own, because a query with one of these is not about this index.
func (x *Index) PageNames() ([]string, error) {
	prefix := string(symbolMark) + ":"
	after, err := x.dictionary.search(0, x.dictionary.blocks, func(b int) (bool, error) {
		key, _, err := x.dictionary.key(b)
		return key >= prefixKey(prefix), err
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for r, err := range x.dictionary.readTerms(max(0, after-1), x.dictionary.blocks) {
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(string(r.term), prefix)
		switch {
		case ok && x.isDistinctive(name):
			names = append(names, name)
		case !ok && string(r.term) > prefix:
			return names, nil
		}
	}
	return names, nil
}

func (x *Index) isDistinctive(name string) bool {
	stem := x.analyzer.stemOf(name)
	return len(name) >= minPageName && stem != "" && !isTechnology(name) && backgroundShare(stem) < everydayShare
}
