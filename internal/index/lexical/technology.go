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

// addOtherSoftware adds the names of other software in the words of a query to in. A name counts
// less if it is frequent in the index. The part of a path is no demand.
func (x *Index) addOtherSoftware(words []framedWord, names []string, in *intent) error {
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
			return err
		}
		in.otherSoftware += share
		if !own {
			in.otherSoftwareFirst = max(in.otherSoftwareFirst, share)
		}
		if share > minOtherness && !strings.Contains(name, "/") {
			in.demands.Software = append(in.demands.Software, name)
		}
	}
	return nil
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
