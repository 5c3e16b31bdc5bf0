package index

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A pageTitle is the title of a document, as evidence of the documented version.
type pageTitle struct {
	key     string // see passage.Passage.Document
	title   string
	edition string // see passage.Passage.Edition
}

// Kinds of evidence, the strongest first.
const (
	// Kinds of evidence, strongest first.
	evidenceTitles = "titles"
	evidenceURLs   = "addresses"
	evidenceNotes  = "release notes"
)

const (
	// minVersionedPages is the number of pages with a version that count as evidence. A
	// single page may be about any version.
	minVersionedPages = 3
	// minTitleShare is the share of page titles that must contain the version. Manuals
	// contain some pages without it, such as redirects and indexes.
	minTitleShare = 0.6
	// minURLShare is the same for URLs and paths. It is higher because a site has all
	// pages of a version below one folder.
	minURLShare = 0.9
	// minReleaseNotes is the number of release notes with the same product name, and
	// minNameShare their share of all release notes. Release notes of several products
	// are not evidence.
	minReleaseNotes = 5
	minNameShare    = 0.8
	// titleSampleSize is the number of pages whose titles are decoded, maxReleaseNotes
	// the maximum number of decoded release notes.
	titleSampleSize = 300
	maxReleaseNotes = 2000
)

// detectEdition returns the version that the documents with these keys describe. It depends only
// on the passages, so an update and a full build find the same version.
func detectEdition(table *passage.Table, location string, keys []string) (*generation.Edition, error) {
	var sampled, notes []int
	for i := range min(len(keys), titleSampleSize) {
		sampled = append(sampled, i*len(keys)/min(len(keys), titleSampleSize))
	}
	for d := range keys {
		if len(notes) < maxReleaseNotes && isReleaseNotes(keys[d]) {
			notes = append(notes, d)
		}
	}
	sampledTitles, err := readTitles(table, keys, sampled)
	if err != nil {
		return nil, err
	}
	notesTitles, err := readTitles(table, keys, notes)
	if err != nil {
		return nil, err
	}
	return inferEdition(location, keys, sampledTitles, notesTitles), nil
}

// readTitles reads the titles of documents from their first passages.
func readTitles(table *passage.Table, keys []string, documents []int) ([]pageTitle, error) {
	var list []pageTitle
	for _, d := range documents {
		members, err := table.Members(uint32(d))
		if err != nil {
			return nil, err
		}
		if len(members) == 0 {
			continue
		}
		first, err := table.Passage(members[0])
		if err != nil {
			return nil, err
		}
		list = append(list, pageTitle{keys[d], first.Title, first.Edition()})
	}
	return list, nil
}

// inferEdition returns the version that the pages describe, or nil if the evidence is
// missing or contradictory. A wrong version is worse than none, because the hook does
// not answer searches about other versions. Location is the source of the pages.
func inferEdition(location string, keys []string, sample, notes []pageTitle) *generation.Edition {
	var found []int
	e := &generation.Edition{}
	for _, evidence := range []struct {
		kind    string
		numbers []int
	}{
		{evidenceTitles, versionInTitles(sample)},
		{evidenceURLs, versionInURLs(location, keys)},
	} {
		if evidence.numbers == nil {
			continue
		}
		if !compatibleVersions(found, evidence.numbers) {
			return nil
		}
		if len(evidence.numbers) > len(found) {
			found = evidence.numbers
		}
		e.Evidence = append(e.Evidence, evidence.kind)
	}
	if latest := versionInNotes(location, keys, notes); latest != nil {
		switch order := slices.Compare(latest, found); {
		case order > 0 && !compatibleVersions(latest, found):
			return nil // the release notes are newer than the version of the pages
		case found == nil, order == 0:
			found = latest
			e.Evidence = append(e.Evidence, evidenceNotes)
		}
	}
	if found == nil {
		return nil
	}
	e.Version = formatVersion(found)
	return e
}

// compatibleVersions reports whether one version is a prefix of the other.
func compatibleVersions(a, b []int) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// versionInTitles returns the version that most pages have with the same documentation
// name.
func versionInTitles(sample []pageTitle) []int {
	type edition struct{ name, version string }
	count := map[edition]int{}
	var best edition
	for _, p := range sample {
		name, numbers := parseEdition(p.edition)
		if numbers == nil {
			continue
		}
		e := edition{name, formatVersion(numbers)}
		if count[e]++; count[e] > count[best] {
			best = e
		}
	}
	if n := count[best]; n < minVersionedPages || float64(n) < minTitleShare*float64(len(sample)) {
		return nil
	}
	return parseVersion(best.version, true)
}

// parseEdition returns the name and version of a documentation: "cmake" and 3.25 for
// "CMake 3.25.1 Documentation". It returns nothing if there are several versions or a
// number that is not a version.
func parseEdition(edition string) (name string, version []int) {
	words := strings.FieldsFunc(strings.ToLower(edition),
		func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]:,;|—–·/", r) })
	words = slices.DeleteFunc(words, isDocumentationWord)
	var names []string
	for i, w := range words {
		v := parseVersion(w, i > 0 && i == len(words)-1)
		switch {
		case v == nil:
			names = append(names, strings.Trim(w, "-."))
		case version != nil && !slices.Equal(v, version):
			return "", nil
		default:
			version = v
		}
	}
	return strings.Join(names, " "), version
}

// isDocumentationWord reports whether w is a generic word in documentation titles.
func isDocumentationWord(w string) bool {
	switch w {
	case "documentation", "docs", "doc", "manual", "reference", "guide", "handbook", "api", "help", "user", "user's",
		"developer", "developer's",
		"version", "release", "lts", "stable", "latest", "current", "the", "home", "&", "-":
		return true
	}
	return false
}

// parseVersion returns the significant numbers of a version such as v18.20.4, 3.11 or
// 4.2.x. A single number is a version if whole is set or it has a leading v.
func parseVersion(s string, whole bool) []int {
	bare := strings.TrimPrefix(s, "v")
	parts := strings.Split(bare, ".")
	if bare != s {
		whole = true
	}
	if n := len(parts); n > 1 && parts[n-1] == "x" {
		parts, whole = parts[:n-1], true
	}
	var numbers []int
	for i, part := range parts {
		digits := part
		if i > 0 {
			digits = trimPrerelease(part)
		}
		n, err := strconv.Atoi(digits)
		switch {
		case digits == "" && i > 1: // 5.0.dev3
		case err != nil || n < 0 || len(digits) > 4 || i > 3 || digits[0] == '+' ||
			i == 0 && len(digits) > 1 && digits[0] == '0':
			return nil
		default:
			numbers = append(numbers, n)
		}
		if digits != part {
			break
		}
	}
	// 365 and 360 are parts of product names.
	if len(numbers) == 1 && (!whole || numbers[0] == 0 || numbers[0] > 999 || numbers[0] == 365 || numbers[0] == 360) {
		return nil
	}
	return significantNumbers(numbers)
}

// trimPrerelease removes a pre-release suffix from a version component: it returns "0"
// for "0a1", "0-rc1", "0rc1" and "0.dev3".
func trimPrerelease(part string) string {
	digits := strings.TrimLeft(part, "0123456789")
	stage := strings.TrimLeft(digits, "-+_")
	for _, s := range []string{"a", "b", "c", "rc", "alpha", "beta", "dev", "pre", "post", "snapshot", "git"} {
		if rest, ok := strings.CutPrefix(stage, s); ok && (rest == "" || !unicode.IsLetter(rune(rest[0]))) {
			return part[:len(part)-len(digits)]
		}
	}
	return part
}

// significantNumbers removes patch release numbers: the manual of 3.11.2 describes
// 3.11.4 too. For products with major versions from 10 on, 15.2 describes 15.4 too.
func significantNumbers(numbers []int) []int {
	if len(numbers) > 0 && numbers[0] >= 10 && numbers[0] < 1000 {
		return numbers[:1]
	}
	return numbers[:min(len(numbers), 2)]
}

func formatVersion(numbers []int) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

// versionInURLs returns the version in a path segment of most pages' URLs or paths, or
// in the folder name of the source.
func versionInURLs(location string, keys []string) []int {
	if v := versionInLocation(location); v != nil {
		return v
	}
	count := map[string]int{}
	for _, key := range keys {
		seen := ""
		_, path, isURL := strings.Cut(key, "://")
		if !isURL {
			path = key
		}
		segments := strings.Split(strings.ToLower(path), "/")
		for i, s := range segments[:len(segments)-1] {
			before := ""
			if i > 0 {
				before = segments[i-1]
			}
			if isURL && i == 0 {
				continue // the host
			}
			if v := formatVersion(parseSegment(s, before)); v != "" && v != seen {
				seen = v
				count[v]++
			}
		}
	}
	var found []int
	for v, n := range count {
		if n < minVersionedPages || float64(n) < minURLShare*float64(len(keys)) {
			continue
		}
		if found != nil {
			return nil // two versions in the same URLs
		}
		found = parseVersion(v, true)
	}
	return found
}

// parseSegment returns the version that a path segment consists of: 3.11, v18, 4.2.x,
// latest-v18.x, or 15 below a documentation folder. It rejects 14 below "en", which is
// SQLAlchemy's notation for 1.4.
func parseSegment(s, before string) []int {
	for _, prefix := range []string{"latest-", "version-", "release-", "stable-"} {
		s = strings.TrimPrefix(s, prefix)
	}
	switch before {
	case "api", "rest": // API version
		return nil
	case "docs", "doc", "documentation", "manual":
		return parseVersion(s, len(s) <= 2)
	}
	return parseVersion(s, false)
}

// versionInLocation returns the version in the name of a documentation folder: 3.11 for
// /usr/share/doc/python3.11/html. Only generic documentation folders may follow it,
// because the version of a program folder is not the version of the manuals below it.
func versionInLocation(location string) []int {
	_, path, isURL := strings.Cut(location, "://")
	if !isURL {
		path = location
	}
	segments := strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '/' || r == '\\' })
	for i := len(segments) - 1; i > 0; i-- {
		s := segments[i]
		if v := parseSegment(s, segments[i-1]); v != nil {
			return v
		}
		if v := versionInName(s); v != nil {
			return v
		}
		if !isDocumentationWord(s) && s != "html" && s != "en" && s != "public" && s != "share" {
			return nil
		}
	}
	return nil
}

// versionInName returns the version in a folder name such as python3.11 or
// golang-1.19-doc. It rejects library names, which contain an ABI version, and versions
// such as 3.0, which often are API versions: glib-2.0.
func versionInName(name string) []int {
	if strings.HasPrefix(name, "lib") {
		return nil
	}
	at := strings.IndexAny(name, "0123456789")
	if at <= 0 {
		return nil
	}
	version, rest, _ := strings.Cut(name[at:], "-")
	switch rest {
	case "", "doc", "docs", "html", "documentation", "manual":
	default:
		return nil
	}
	parts := strings.Split(version, ".")
	if len(parts) < 2 || len(parts) == 2 && parts[1] == "0" {
		return nil
	}
	return parseVersion(version, false)
}

// isReleaseNotes reports whether the key of a page looks like release notes.
func isReleaseNotes(key string) bool {
	return slices.ContainsFunc([]string{"release", "whatsnew", "relnotes", "changelog", "announce"},
		func(s string) bool {
			return strings.Contains(strings.ToLower(key), s)
		})
}

// versionInNotes returns the highest version with release notes. The product name in
// their titles must occur in the location or in the keys of all pages; otherwise they
// may describe only a component.
func versionInNotes(location string, keys []string, notes []pageTitle) []int {
	count, highest := map[string]int{}, map[string][]int{}
	all, best := 0, ""
	for _, p := range notes {
		name, v := parseNotesTitle(p.title)
		if v == nil || name == "" {
			continue
		}
		all++
		if count[name]++; count[name] > count[best] {
			best = name
		}
		if slices.Compare(v, highest[name]) > 0 {
			highest[name] = v
		}
	}
	if n := count[best]; n < minReleaseNotes || float64(n) < minNameShare*float64(all) {
		return nil
	}
	if strings.Contains(strings.ToLower(location), best) {
		return highest[best]
	}
	for _, key := range keys {
		if !strings.Contains(strings.ToLower(key), best) {
			return nil
		}
	}
	return highest[best]
}

// parseNotesTitle returns the product name and version in the title of release notes:
// "sqlite" and 3.40 for "SQLite Release 3.40.1 On 2022-12-28".
func parseNotesTitle(title string) (name string, version []int) {
	title = strings.ToLower(title)
	at := strings.IndexAny(title, "0123456789")
	if at < 0 {
		return "", nil
	}
	number := title[at:]
	if end := strings.IndexFunc(number, func(r rune) bool { return r != '.' && !unicode.IsDigit(r) && !unicode.IsLetter(r) }); end >= 0 {
		number = number[:end]
	}
	words := strings.FieldsFunc(strings.TrimSuffix(title[:at], "v"),
		func(r rune) bool { return !unicode.IsLetter(r) && r != '.' })
	words = slices.DeleteFunc(words, func(w string) bool {
		switch w {
		case "what", "s", "new", "in", "notes", "for", "of", "changes", "announcing", "announcement", "changelog":
			return true
		}
		return isDocumentationWord(w)
	})
	if len(words) != 1 {
		return "", nil
	}
	return words[0], parseVersion(strings.TrimRight(number, "."), false)
}
