package lexical

import (
	_ "embed"
	"slices"
	"strings"
)

// technology lists names of software, services and libraries that have
// documentation of their own: one per line, sorted, in lower case, with a hyphen
// between words and a dot as the value. Names that are everyday words of
// documentation, such as cursor or channels, are not in it.
//
//go:embed technology.txt
var technology string

// minSoftwareName is the length of the shortest name that otherSoftware counts, in
// bytes. Shorter ones, such as go and c, are mostly everyday words or letters.
const minSoftwareName = 3

// isTechnology reports whether w is the name of software with documentation of
// its own. A query with such a name belongs to that documentation, and to this
// one only if it often has the name.
func isTechnology(w string) bool {
	_, found := lookup(technology, w)
	return found
}

// otherSoftware returns how much the words of a query name other software than
// the index documents: 1 for each name that the index hardly has, less for one
// that it has often. before is the highest of these numbers for the names in
// front of the documented software's own name.
func (x *Index) otherSoftware(words []framedWord, names []string) (sum, before float64, err error) {
	own := false
	for i := 0; i < len(words); i++ {
		name := words[i].folded
		own = own || isAnyName(name, names)
		if i+1 < len(words) {
			if pair := name + "-" + words[i+1].folded; isTechnology(pair) {
				name = pair
				i++
			}
		}
		share, err := x.otherShare(name, names)
		if err != nil {
			return 0, 0, err
		}
		sum += share
		if !own {
			before = max(before, share)
		}
	}
	return sum, before, nil
}

// otherShare is 1 for a name of other software that the index hardly has, and 0
// for a name that it has often or that is no software's. If a part of the name is
// the documented software's, as in better-sqlite3, the whole is other software
// unless the index has the rest.
func (x *Index) otherShare(name string, names []string) (float64, error) {
	if len(name) < minSoftwareName || isAnyName(name, names) {
		return 0, nil
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '/' || r == '@' || r == '_' })
	listed := isTechnology(name)
	isOwn := func(part string) bool { return isAnyName(part, names) }
	if !listed && (len(parts) < 2 || !slices.ContainsFunc(parts, isOwn)) {
		return 0, nil
	}
	most := 0.
	for _, part := range parts {
		if isOwn(part) {
			continue
		}
		share, err := x.otherness(part)
		if err != nil {
			return 0, err
		}
		if !listed {
			n, err := x.Frequency(part)
			if err != nil {
				return 0, err
			}
			if n > 0 {
				share = 0
			}
		}
		most = max(most, share)
	}
	return most, nil
}
