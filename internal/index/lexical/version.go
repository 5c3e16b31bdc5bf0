package lexical

import (
	"strconv"
	"strings"
)

// A versionRelation is the relation of the version in a query to the index's version.
type versionRelation uint8

const (
	noVersion   versionRelation = iota // one of them is unknown
	sameVersion                        // equal as far as both are specified: 3.11.4 and 3.11
	olderMinor                         // with the same major version
	olderMajor
	newerMinor
	newerMajor
)

// comparedNumbers is how many numbers of two versions are compared: the documentation of a patch
// release is that of its minor version.
const comparedNumbers = 2

// relationOf compares the version in a query with the index's own.
func relationOf(named, own []int) versionRelation {
	for i := range min(len(named), len(own), comparedNumbers) {
		switch {
		case named[i] == own[i]:
			continue
		case named[i] < own[i] && i == 0:
			return olderMajor
		case named[i] < own[i]:
			return olderMinor
		case i == 0:
			return newerMajor
		}
		return newerMinor
	}
	if len(named) == 0 || len(own) == 0 {
		return noVersion
	}
	return sameVersion
}

// parseNumbers parses a version such as 3.11, v18, 15.x or >=2.39.1. marked reports
// whether it has a leading v or comparison operator. numbers is nil if s is not a version.
func parseNumbers(s string) (numbers []int, marked bool) {
	bare := strings.TrimLeft(s, "<>=~^")
	marked = bare != s
	if len(bare) > 1 && (bare[0] == 'v' || bare[0] == 'V') && isDigit(bare[1]) {
		bare, marked = bare[1:], true
	}
	for part := range strings.SplitSeq(bare, ".") {
		if part == "x" && len(numbers) > 0 {
			break
		}
		if part == "" || len(part) > 4 || strings.Trim(part, "0123456789") != "" || len(numbers) == 4 {
			return nil, false
		}
		n, _ := strconv.Atoi(part) // digits only
		numbers = append(numbers, n)
	}
	return numbers, marked
}

// ownNumbers parses the version of the documented software as packages and tags write it: with an
// epoch, a leading v, and a suffix, as in 1:2.6.12-1+deb12u4 and v3.5.0-rc.1. Go modules that stay
// at v0 can count all of a version's numbers as the minor one: v0.316.0 is 3.16.
func ownNumbers(version string) []int {
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	version = strings.TrimLeft(version, "vV")
	if end := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		version = version[:end]
	}
	numbers, _ := parseNumbers(strings.Trim(version, "."))
	if len(numbers) > 1 && numbers[0] == 0 && numbers[1] >= 100 {
		return []int{numbers[1] / 100, numbers[1] % 100}
	}
	return numbers
}

// markVersions marks the words of a query that are versions of the documented software as
// framing, and compares them with the index's own version. A number is such a version if
// it is next to the software's name, or if it is marked or has dots and its major version is
// close to the index's. A number after the name of other software is not. other is the first
// version that differs from the index's, unless the query names that, too.
func markVersions(words []framedWord, names []string, own []int) (relation versionRelation, other string) {
	for i := range words {
		numbers, marked := parseNumbers(words[i].folded)
		if len(numbers) == 0 || isYear(words[i].folded) || !isVersionAt(words, i, numbers, marked, names, own) {
			continue
		}
		words[i].framing = strongFraming
		if r := relationOf(numbers, own); relation == noVersion || r == sameVersion {
			relation = r
		}
		if relation > sameVersion && other == "" {
			other = bareVersion(words[i].folded)
		}
	}
	if relation <= sameVersion {
		other = ""
	}
	return relation, other
}

// isVersionAt reports whether the i-th word, which has these numbers, is a version of the
// documented software.
func isVersionAt(words []framedWord, i int, numbers []int, marked bool, names []string, own []int) bool {
	end, before, after := i, "", "" // of the words before the version
	if i > 1 && isVersionWord(words[i-1].folded) {
		end--
	}
	if end > 0 {
		before = words[end-1].folded
	}
	if i+1 < len(words) {
		after = words[i+1].folded
	}
	switch {
	case endsWithName(words[:end], names), endsWithName(words[:i], names), isAnyName(after, names) && len(numbers) > 1:
		return true
	case isTechnology(before), isProtocol(before), len(own) == 0:
		return false
	}
	return (marked || len(numbers) > 1) && near(numbers[0], own[0])
}

// isVersionWord reports whether w may be between a name and its version.
func isVersionWord(w string) bool {
	switch w {
	case "version", "v", "release", "engine", "server", "desktop", "core", "cli", "lts", "client", "framework",
		"language", "orm", "stable":
		return true
	}
	return false
}

// near reports whether two major versions may be those of one software.
func near(a, b int) bool { return a-b <= 3 && b-a <= 3 }

// isProtocol reports whether w is a name that includes the number after it.
func isProtocol(w string) bool {
	switch w {
	case "http", "https", "tls", "ssl", "oauth", "openid", "unicode", "iso", "rfc", "pep", "section", "chapter",
		"table", "figure", "step", "part", "ecmascript", "es", "css", "html":
		return true
	}
	return false
}

// relationToUsed compares the version in use with the index's own. Only another major
// version counts: within one, the documentation of each version answers most queries.
func relationToUsed(used string, own []int) versionRelation {
	numbers, _ := parseNumbers(used)
	if r := relationOf(numbers, own); r == olderMajor || r == newerMajor {
		return r
	}
	return noVersion
}

// bareVersion removes the comparison operator or v before the numbers of a version.
func bareVersion(s string) string { return strings.TrimLeft(s, "<>=~^vV") }

// NamedVersion returns the version that a query names for the software with these names:
// "18" in "react 18 hooks", "react@18" and "react18". It returns "" if it names none.
func NamedVersion(query string, names []string) string {
	words := framedWords(query)
	for i := range words {
		w := words[i].folded
		for _, name := range names {
			rest, ok := strings.CutPrefix(w, strings.ToLower(name))
			rest = strings.TrimPrefix(rest, "@")
			if numbers, _ := parseNumbers(rest); ok && len(numbers) > 0 {
				return bareVersion(rest)
			}
		}
		if numbers, marked := parseNumbers(w); len(numbers) > 0 && !isYear(w) &&
			isVersionAt(words, i, numbers, marked, names, nil) {
			return bareVersion(w)
		}
	}
	return ""
}
