package lexical

import (
	_ "embed"
	"slices"
	"strings"
)

// technology lists names of software, services and libraries that have documentation of
// their own: one per line, sorted, in lower case, with a hyphen between words and a dot as
// the value. It omits names that are everyday words of documentation, such as cursor or
// channels.
//
//go:embed technology.txt
var technology string

// minSoftwareName is the minimum length in bytes of a name that otherSoftware counts.
// Shorter ones, such as go and c, are mostly everyday words or letters.
const minSoftwareName = 3

// isTechnology reports whether w is the name of software with documentation of its own. A
// query with such a name is about that software, and about this index only if the name is
// frequent in it.
func isTechnology(w string) bool {
	_, found := lookup(technology, w)
	return found
}

// otherSoftware returns how many names of other software the words of a query contain. A
// name counts less if it is frequent in the index. before is the highest count of a name
// in front of the documented software's own name.
func (x *Index) otherSoftware(words []framedWord, names []string) (sum, before float64, err error) {
	own := false
	err = x.eachSoftware(words, names, func(i int, _ string, share float64) {
		own = own || isAnyName(words[i].folded, names)
		sum += share
		if !own {
			before = max(before, share)
		}
	})
	return sum, before, err
}

// otherShare returns 1 for a name of other software that is rare in the index, down to 0
// for a name that is frequent in it or that is not listed. If the documented software's
// name is part of the name, as in better-sqlite3, the whole is other software if it is listed
// or the index lacks the rest.
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
	if listed && len(parts) > 1 && slices.ContainsFunc(parts, isOwn) {
		return 1, nil // react-router is other software than React
	}
	highest := 0.
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
		highest = max(highest, share)
	}
	return highest, nil
}

// otherNames returns the names of other software in a query that are rare in the index. The part
// of a path is none.
func (x *Index) otherNames(words []framedWord, names []string) (found []string, err error) {
	err = x.eachSoftware(words, names, func(_ int, name string, share float64) {
		if share > minOtherness && !strings.Contains(name, "/") {
			found = append(found, name)
		}
	})
	return found, err
}

// eachSoftware calls f for the names of software in a query, with the index of the first word and
// how much the name counts as other software, see otherShare.
func (x *Index) eachSoftware(words []framedWord, names []string, f func(i int, name string, share float64)) error {
	for i := 0; i < len(words); i++ {
		first, name := i, words[i].folded
		if i+1 < len(words) {
			if pair := name + "-" + words[i+1].folded; isTechnology(pair) {
				name = pair
				i++
			}
		}
		share, err := x.otherShare(name, names)
		if err != nil {
			return err
		}
		f(first, name, share)
	}
	return nil
}
