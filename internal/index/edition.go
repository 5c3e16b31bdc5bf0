package index

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A titled document is evidence of the version that the database documents.
type titled struct {
	key     string // see passage.Passage.Document
	title   string
	edition string // see passage.Passage.Edition
}

// Kinds of evidence, the strongest first.
const (
	byTitles    = "titles"
	byAddresses = "addresses"
	byNotes     = "release notes"
)

const (
	// fewestPages with a version are evidence: one may be about anything.
	fewestPages = 3
	// titleShare is the share of the pages whose title must have the version.
	// Manuals have some pages without: notices that a page has moved, indexes.
	titleShare = 0.6
	// addressShare is the same for the address. It is higher since an address is
	// of one site, which has all pages of a version below one folder.
	addressShare = 0.9
	// fewestNotes are release notes of one name, and nameShare their share of all
	// release notes: notes of several products say nothing of the documentation.
	fewestNotes = 5
	nameShare   = 0.8
	// sampledPages are decoded for their titles, and at most maxNotes release notes.
	sampledPages = 300
	maxNotes     = 2000
)

// findEdition puts the version that the database documents into the manifest. It
// depends on the passages alone, so an update finds what a build finds.
func (w *work) findEdition() (err error) {
	draft, err := draftOf(w.Build, &w.m)
	if err != nil {
		return err
	}
	table, err := passage.OpenTable(draft)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	keys := make([]string, table.Documents())
	for d := range keys {
		if keys[d], err = table.Key(uint32(d)); err != nil {
			return err
		}
	}
	var sampled, notes []int
	for i := range min(len(keys), sampledPages) {
		sampled = append(sampled, i*len(keys)/min(len(keys), sampledPages))
	}
	for d := range keys {
		if len(notes) < maxNotes && isReleaseNotes(keys[d]) {
			notes = append(notes, d)
		}
	}
	sampledTitles, err := titlesOf(table, keys, sampled)
	if err != nil {
		return err
	}
	notesTitles, err := titlesOf(table, keys, notes)
	if err != nil {
		return err
	}
	w.m.Edition = editionFrom(w.m.Source.Location, keys, sampledTitles, notesTitles)
	return nil
}

// titlesOf reads the titles of documents, which their first passages have.
func titlesOf(table *passage.Table, keys []string, documents []int) ([]titled, error) {
	var list []titled
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
		list = append(list, titled{keys[d], first.Title, first.Edition()})
	}
	return list, nil
}

// editionFrom returns the version that pages are about, or nil if the evidence is
// missing or contradicts itself. A wrong version is worse than none: the hook lets
// searches about other versions run. Location is where the pages come from.
func editionFrom(location string, keys []string, sample, notes []titled) *generation.Edition {
	var found []int
	e := &generation.Edition{}
	for _, evidence := range []struct {
		kind    string
		numbers []int
	}{
		{byTitles, versionInTitles(sample)},
		{byAddresses, versionInAddresses(location, keys)},
	} {
		if evidence.numbers == nil {
			continue
		}
		if !agree(found, evidence.numbers) {
			return nil
		}
		if len(evidence.numbers) > len(found) {
			found = evidence.numbers
		}
		e.Evidence = append(e.Evidence, evidence.kind)
	}
	if latest := versionInNotes(location, keys, notes); latest != nil {
		switch order := slices.Compare(latest, found); {
		case order > 0 && !agree(latest, found):
			return nil // the notes are newer than the pages say that they are
		case found == nil, order == 0:
			found = latest
			e.Evidence = append(e.Evidence, byNotes)
		}
	}
	if found == nil {
		return nil
	}
	e.Version = formatVersion(found)
	return e
}

// agree reports whether two versions are the same as far as both are given.
func agree(a, b []int) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// versionInTitles returns the version that most pages give beside the same name of
// the documentation.
func versionInTitles(sample []titled) []int {
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
	if n := count[best]; n < fewestPages || float64(n) < titleShare*float64(len(sample)) {
		return nil
	}
	return parseVersion(best.version, true)
}

// parseEdition returns the name of a documentation and its version: "cmake" and
// 3.25 of "CMake 3.25.1 Documentation". It returns none if there are several
// versions, or a number that is no version.
func parseEdition(edition string) (name string, version []int) {
	words := strings.FieldsFunc(strings.ToLower(edition), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]:,;|—–·/", r) })
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

// isDocumentationWord reports whether a word may follow the name and the version of
// any documentation.
func isDocumentationWord(w string) bool {
	switch w {
	case "documentation", "docs", "doc", "manual", "reference", "guide", "handbook", "api", "help", "user", "user's", "developer", "developer's",
		"version", "release", "lts", "stable", "latest", "current", "the", "home", "&", "-":
		return true
	}
	return false
}

// parseVersion returns the numbers of a version such as v18.20.4, 3.11 or 4.2.x, as
// far as documentation is about them. A number alone is a version if whole allows
// it, or with a leading v.
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
			digits = withoutStage(part)
		}
		n, err := strconv.Atoi(digits)
		switch {
		case digits == "" && i > 1: // 5.0.dev3
		case err != nil || n < 0 || len(digits) > 4 || i > 3 || digits[0] == '+' || i == 0 && len(digits) > 1 && digits[0] == '0':
			return nil
		default:
			numbers = append(numbers, n)
		}
		if digits != part {
			break
		}
	}
	// 365 and 360 are parts of names.
	if len(numbers) == 1 && (!whole || numbers[0] == 0 || numbers[0] > 999 || numbers[0] == 365 || numbers[0] == 360) {
		return nil
	}
	return numbersThatCount(numbers)
}

// withoutStage returns a part of a version without what says that it is not yet
// released: "0" of "0a1", "0-rc1", "0rc1" and "0.dev3".
func withoutStage(part string) string {
	digits := strings.TrimLeft(part, "0123456789")
	stage := strings.TrimLeft(digits, "-+_")
	for _, s := range []string{"a", "b", "c", "rc", "alpha", "beta", "dev", "pre", "post", "snapshot", "git"} {
		if rest, ok := strings.CutPrefix(stage, s); ok && (rest == "" || !unicode.IsLetter(rune(rest[0]))) {
			return part[:len(part)-len(digits)]
		}
	}
	return part
}

// numbersThatCount returns the numbers of a version without those that only tell
// fixes apart: 3.11.4 is described by the manual of 3.11.2, and 15.4, of software
// that counts its major versions past ten, by that of 15.2.
func numbersThatCount(numbers []int) []int {
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

// versionInAddresses returns the version that is a segment of most pages' URLs or
// paths, or in the name of the folder that all come from.
func versionInAddresses(location string, keys []string) []int {
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
		if n < fewestPages || float64(n) < addressShare*float64(len(keys)) {
			continue
		}
		if found != nil {
			return nil // two versions in the same addresses
		}
		found = parseVersion(v, true)
	}
	return found
}

// parseSegment returns the version that a segment of a path is: 3.11, v18, 4.2.x,
// latest-v18.x, and 15 below a folder of documentation. Not 14 below "en", which is
// how SQLAlchemy writes 1.4.
func parseSegment(s, before string) []int {
	for _, prefix := range []string{"latest-", "version-", "release-", "stable-"} {
		s = strings.TrimPrefix(s, prefix)
	}
	switch before {
	case "api", "rest": // the version of an interface
		return nil
	case "docs", "doc", "documentation", "manual":
		return parseVersion(s, len(s) <= 2)
	}
	return parseVersion(s, false)
}

// versionInLocation returns the version in the name of a folder of documentation:
// 3.11 of /usr/share/doc/python3.11/html. Behind it there must be nothing but
// folders that every documentation may have: the version of a folder of programs
// is not that of the manuals below it.
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

// versionInName returns the version in a folder's name such as python3.11 or
// golang-1.19-doc. Libraries are left out, whose names have the version of their
// interface, as are versions like 3.0, which are often that: glib-2.0.
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

// isReleaseNotes reports whether a page with this key may be a version's release
// notes.
func isReleaseNotes(key string) bool {
	key = strings.ToLower(key)
	for _, s := range []string{"release", "whatsnew", "relnotes", "changelog", "announce"} {
		if strings.Contains(key, s) {
			return true
		}
	}
	return false
}

// versionInNotes returns the highest version that has release notes. The name in
// their titles must be in the location or in the addresses of all pages, or they may
// be those of a part of what is documented.
func versionInNotes(location string, keys []string, notes []titled) []int {
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
	if n := count[best]; n < fewestNotes || float64(n) < nameShare*float64(all) {
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

// parseNotesTitle returns the name of the software and the version that a title of
// release notes has: "sqlite" and 3.40 of "SQLite Release 3.40.1 On 2022-12-28".
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
	words := strings.FieldsFunc(strings.TrimSuffix(title[:at], "v"), func(r rune) bool { return !unicode.IsLetter(r) && r != '.' })
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
