package passage

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A Member is what the key of a document says about its family: the pages that have the same
// content in several languages or versions.
type Member struct {
	// Family numbers the families of two or more documents from 1. 0: the document has none.
	Family   int
	Language string // code of two letters of the folder or suffix that names it, or ""
	Version  []int  // numbers of the folder that names it; nil: none
	Rank     int    // place in the family: the current version and no or English language first
	// Old and Translated report that the documentation has a newer version, and that it has the
	// page in its own language or in English, too.
	Old, Translated bool
}

// A variant is a document without its language and version.
type variant struct {
	name               string // with slashes; that of the family
	language, version  string // as written; "": none
	order              versionOrder
	translated, edited bool // the language or version was cut
}

// Families returns the member for each document with these keys. A folder or suffix is a
// language or version only if the pages below have siblings: a number may be a chapter, and two
// letters may be a programming language. next reports, if it is not nil, which documents are of
// the next version by their addresses.
func Families(keys []string, next []bool) []Member {
	variants := make([]variant, len(keys))
	for i, key := range keys {
		if _, rest, ok := strings.Cut(key, "://"); ok {
			key = rest
		}
		variants[i].name = plainEnding(key)
	}
	names := variantNames(variants)
	unreleased := map[string]bool{} // folders of the next version
	for i := range next {
		for name := variants[i].name; next[i] && strings.Contains(name, "/"); name = strings.TrimSuffix(name, "/") {
			name = name[:strings.LastIndexByte(name, '/')+1]
			unreleased[name] = true
		}
	}
	for i := range variants {
		v := &variants[i]
		v.cutDocusaurus(names, unreleased)
		if len(next) > 0 && next[i] && !v.edited {
			v.version, v.edited, v.order = "next", true, versionOrder{kind: developed}
		}
	}
	cutAxis(variants, languageAxis{})
	cutAxis(variants, versionAxis{})
	return membersOf(variants)
}

// plainEnding replaces an ending of which there are two.
func plainEnding(name string) string {
	if stem, ok := strings.CutSuffix(name, ".mdx"); ok {
		return stem + ".md"
	}
	if stem, ok := strings.CutSuffix(name, ".htm"); ok {
		return stem + ".html"
	}
	return name
}

// variantNames returns the names and the folders, which end with a slash.
func variantNames(variants []variant) map[string]bool {
	names := make(map[string]bool, len(variants))
	for i := range variants {
		name := variants[i].name
		for names[name] = true; ; names[name] = true {
			at := strings.LastIndexByte(strings.TrimSuffix(name, "/"), '/')
			if at < 0 || names[name[:at+1]] {
				break
			}
			name = name[:at+1]
		}
	}
	return names
}

// cutDocusaurus cuts the folders of Docusaurus, which says by their names what they are:
// versioned_docs/version-1.0, NAME_versioned_docs/version-1.0 and
// i18n/fr/docusaurus-plugin-content-docs/version-1.0. The current version is in docs or NAME,
// unless that is the next one.
func (v *variant) cutDocusaurus(names, unreleased map[string]bool) {
	const plugin = "docusaurus-plugin-content-docs"
	segments := strings.Split(v.name, "/")
	for i, s := range segments {
		folder, after, versioned := strings.Cut(s, "versioned_docs")
		versioned = versioned && (after == "" || after[0] == '_')
		rest := segments[i+1:]
		switch {
		case versioned && len(rest) > 1 && strings.HasPrefix(rest[0], "version-"):
			folder = strings.TrimSuffix(folder, "_")
		case i > 1 && segments[i-2] == "i18n" && strings.HasPrefix(s, plugin) && len(rest) > 1 && LanguageCode(segments[i-1]) != "":
			folder = strings.TrimPrefix(strings.TrimPrefix(s, plugin), "-")
			v.language, v.translated = segments[i-1], true
			i -= 2
		default:
			continue
		}
		v.version, v.edited = strings.TrimPrefix(rest[0], "version-"), true
		if v.version == "current" {
			v.version = ""
		}
		v.order = orderOf(v.version)
		top, folder := path.Join(segments[:i]...), cmp.Or(folder, "docs")
		if i > 0 && !names[path.Join(top, folder)+"/"] && names[path.Join(path.Dir(top), folder)+"/"] {
			top = path.Dir(top) // website/versioned_docs and docs
		}
		v.name = path.Join(top, folder, path.Join(rest[1:]...))
		current := path.Join(top, folder) + "/"
		v.order.old = v.version != "" && names[current] && !unreleased[current]
		return
	}
}

// An axis is languages or versions, by which documentation repeats pages.
type axis interface {
	// parse reports whether a folder may be a value of the axis below a prefix.
	parse(folder, prefix string) bool
	// accepts returns the values of a slot that are of the axis.
	accepts(s *slot) []string
	cut(v *variant, value string, s *slot)
	isCut(v *variant) bool
}

// A slot is a folder with values of an axis.
type slot struct {
	prefix string // with a slash at its end, or ""
	main   string // where the pages without a value are
	// below has the names below each folder of the prefix; those of pages without a value, too,
	// as "".
	below  map[string]map[string]bool
	newest versionOrder // of the accepted versions
}

// cutAxis cuts the folders and suffixes that are values of an axis.
func cutAxis(variants []variant, a axis) {
	sorted := make([]string, len(variants))
	prefixes := map[string]bool{}
	for i := range variants {
		v := &variants[i]
		sorted[i] = v.name
		if a.isCut(v) {
			continue
		}
		for at := range len(v.name) {
			if at > 0 && v.name[at-1] != '/' {
				continue
			}
			if folder, _, ok := strings.Cut(v.name[at:], "/"); ok && a.parse(folder, v.name[:at]) {
				prefixes[v.name[:at]] = true
			}
		}
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	slots := make(map[string]*slot, len(prefixes))
	accepted := map[string]bool{} // prefix and value
	for prefix := range prefixes {
		s := newSlot(prefix, sorted, a)
		for _, value := range a.accepts(s) {
			slots[prefix] = s
			accepted[prefix+value] = true
		}
	}
	for i := range variants {
		v := &variants[i]
		if a.isCut(v) {
			continue
		}
		for at := range len(v.name) {
			if at > 0 && v.name[at-1] != '/' {
				continue
			}
			folder, rest, ok := strings.Cut(v.name[at:], "/")
			if !ok || !accepted[v.name[:at]+folder] {
				continue
			}
			s := slots[v.name[:at]]
			v.name = s.main + rest
			a.cut(v, folder, s)
			break
		}
	}
	if _, ok := a.(languageAxis); ok {
		cutSuffixes(variants)
	}
}

// newSlot returns the slot below a prefix. sorted are all names.
func newSlot(prefix string, sorted []string, a axis) *slot {
	s := &slot{prefix: prefix, main: prefix, below: map[string]map[string]bool{}}
	if folder := path.Base(prefix); holdsTranslations(folder) {
		s.main = strings.TrimSuffix(prefix, folder+"/")
	}
	add := func(folder, rest string) {
		if s.below[folder] == nil {
			s.below[folder] = map[string]bool{}
		}
		s.below[folder][rest] = true
	}
	for _, name := range sorted[sort.SearchStrings(sorted, s.main):] {
		rest, ok := strings.CutPrefix(name, s.main)
		if !ok {
			break
		}
		if strings.HasPrefix(name, prefix) {
			folder, below, ok := strings.Cut(name[len(prefix):], "/")
			if ok {
				add(folder, below)
			}
			if ok && a.parse(folder, prefix) {
				continue
			}
		}
		add("", rest)
	}
	return s
}

// shared returns how many names below a folder are below the other, too, and how many of them
// are no index pages, which all folders have.
func (s *slot) shared(folder, other string) (all, own int) {
	for name := range s.below[folder] {
		if s.below[other][name] {
			all++
			if !isIndex(name) {
				own++
			}
		}
	}
	return all, own
}

// hasOther reports whether a folder that is no value of the axis has most of the names of one
// that may be: then the folders are something else, such as programming languages.
func (s *slot) hasOther(value string, isValue func(string) bool) bool {
	for folder := range s.below {
		if folder == "" || isValue(folder) {
			continue
		}
		if _, own := s.shared(value, folder); own > 1 && 2*own >= len(s.below[value]) {
			return true
		}
	}
	return false
}

// isIndex reports whether many folders have a page of that name. In a folder below, the folder's
// name counts.
func isIndex(name string) bool {
	switch strings.ToLower(strings.TrimSuffix(name, path.Ext(name))) {
	case "index", "_index", "readme", "summary", "intro", "introduction", "overview", "changelog":
		return true
	}
	return false
}

// membersOf numbers the families and ranks their members.
func membersOf(variants []variant) []Member {
	members := make([]Member, len(variants))
	byName := make(map[string][]int, len(variants))
	for i := range variants {
		v := &variants[i]
		byName[v.name] = append(byName[v.name], i)
		members[i].Language = LanguageCode(v.language)
		members[i].Version = v.order.numbers()
		members[i].Old = v.edited && v.order.old
	}
	family := 0
	for i := range variants {
		group := byName[variants[i].name]
		delete(byName, variants[i].name)
		isRepeated := func(i int) bool { return variants[i].translated || variants[i].edited }
		if len(group) < 2 || !slices.ContainsFunc(group, isRepeated) {
			continue
		}
		family++
		slices.SortStableFunc(group, func(a, b int) int { return variants[a].compare(&variants[b]) })
		own := slices.ContainsFunc(group, func(i int) bool { return isOwnLanguage(members[i].Language) })
		for rank, i := range group {
			m := &members[i]
			m.Family, m.Rank = family, rank
			m.Translated = own && !isOwnLanguage(m.Language)
			m.Old = m.Old || variants[i].order.kind == numbered && variants[i].order.compare(variants[group[0]].order) > 0
		}
	}
	return members
}

// isOwnLanguage reports whether a code may be that of the documentation's own language.
func isOwnLanguage(code string) bool { return code == "" || code == "en" }

// compare orders the members of a family, the best first.
func (v *variant) compare(w *variant) int {
	language := func(v *variant) int {
		switch code := LanguageCode(v.language); {
		case v.language == "":
			return 0
		case code == "en":
			return 1
		}
		return 2
	}
	return cmp.Or(v.order.compare(w.order), cmp.Compare(language(v), language(w)), strings.Compare(strings.ToLower(v.language), strings.ToLower(w.language)))
}

type languageAxis struct{}

func (languageAxis) isCut(v *variant) bool { return v.language != "" }

func (languageAxis) parse(folder, _ string) bool { return LanguageCode(folder) != "" }

func (languageAxis) cut(v *variant, value string, _ *slot) { v.language, v.translated = value, true }

// leastSure is the number of pages that a folder of a frequent language shares with another,
// from which it is one whatever else it has.
const leastSure = 10

// accepts needs fewer siblings where the folder's name or the one around it says that it is a
// language, or where several languages have the same page.
func (a languageAxis) accepts(s *slot) (values []string) {
	isValue := func(f string) bool { return LanguageCode(f) != "" || versionAxis{}.parse(f, s.prefix) }
	marked := s.main != s.prefix
	for value := range s.below {
		if LanguageCode(value) == "" {
			continue
		}
		best, siblings, all := 0, 0, 0
		for other := range s.below {
			if other == value || other != "" && LanguageCode(other) == "" {
				continue
			}
			n, own := s.shared(value, other)
			best, all = max(best, own), max(all, n)
			if isAmbiguous(value) {
				n = own
			}
			if n > 0 && 2*n >= len(s.below[value]) {
				siblings++
			}
		}
		switch {
		case all == 0, !marked && siblings < 2 && s.hasOther(value, isValue):
		case marked, isRegional(value), siblings > 1, best > 2 && 2*best >= len(s.below[value]),
			best > 1 && !isAmbiguous(value) && 2*best >= len(s.below[value]), best >= leastSure && isFrequent(value):
			values = append(values, value)
		}
	}
	// English among translations may have pages that they lack.
	if slices.ContainsFunc(values, func(v string) bool { return LanguageCode(v) != "en" }) && s.below["en"] != nil && !slices.Contains(values, "en") {
		values = append(values, "en")
	}
	return values
}

// cutSuffixes cuts the languages in the names of files: page.fr.md, page_ja.md, page.html.fr.
func cutSuffixes(variants []variant) {
	names := variantNames(variants)
	found := map[string][]int{} // by the name without a suffix
	stems := make([]string, len(variants))
	suffixes := make([]string, len(variants))
	for i := range variants {
		if variants[i].language != "" {
			continue
		}
		if stems[i], suffixes[i] = cutLanguage(variants[i].name); suffixes[i] != "" {
			found[stems[i]] = append(found[stems[i]], i)
		}
	}
	for stem, group := range found {
		if !names[stem] && len(group) < 2 {
			continue
		}
		// Names of functions and chapters end in the codes of rarer languages: sort_ro, xfunc-pl.
		isSure := slices.ContainsFunc(group, func(i int) bool { return isFrequent(suffixes[i]) })
		several := slices.ContainsFunc(group, func(i int) bool { return suffixes[i] != suffixes[group[0]] })
		for _, i := range group {
			if !isFrequent(suffixes[i]) && !(isSure && several) && !isReadme(stem) {
				continue
			}
			v := &variants[i]
			v.name, v.language, v.translated = stem, suffixes[i], true
		}
	}
}

// cutLanguage cuts the suffix from the name of a file that is a language.
func cutLanguage(name string) (stem, suffix string) {
	folder, base := path.Split(name)
	ext := path.Ext(base)
	if code := strings.TrimPrefix(ext, "."); LanguageCode(code) != "" && path.Ext(strings.TrimSuffix(base, ext)) != "" {
		return folder + strings.TrimSuffix(base, ext), code // page.html.fr
	}
	base = strings.TrimSuffix(base, ext)
	at := strings.LastIndexAny(base, "._-")
	if at <= 0 {
		return name, ""
	}
	code := base[at+1:]
	if i := strings.LastIndexAny(base[:at], "._-"); i > 0 && LanguageCode(base[i+1:]) != "" {
		at, code = i, base[i+1:] // README-zh-CN.md
	}
	switch {
	case LanguageCode(code) == "", base[at] != '.' && !isRegional(code) && isAmbiguous(code),
		isRegional(code) && strings.ToUpper(code) == code && !isReadme(name): // as _LT_OQ in the name of a constant
		return name, ""
	}
	return folder + base[:at] + ext, code
}

// holdsTranslations reports whether the folders below one of that name are languages.
func holdsTranslations(folder string) bool {
	switch folder {
	case "i18n", "locales", "locale", "translations", "translation", "l10n", "lang", "langs", "languages", "_i18n":
		return true
	}
	return false
}

// LanguageCode returns the code of two letters of a language in which documentation is written:
// "zh" for zh, zh-CN, zh_Hans and cn; "" for other names.
func LanguageCode(name string) string {
	lower := strings.ToLower(name)
	switch lower {
	case "cn":
		return "zh"
	case "jp":
		return "ja"
	case "kr":
		return "ko"
	}
	code, region, regional := strings.Cut(strings.ReplaceAll(lower, "_", "-"), "-")
	if regional {
		switch {
		case len(region) == 2 && strings.Trim(region, "abcdefghijklmnopqrstuvwxyz") == "":
		case region == "hans", region == "hant", region == "419", strings.HasPrefix(region, "hans-"), strings.HasPrefix(region, "hant-"):
		default:
			return ""
		}
	}
	switch code {
	case "en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "cs", "sk", "sl", "hr", "sr", "bg", "ro", "hu", "el", "tr",
		"ar", "he", "fa", "hi", "bn", "ta", "th", "vi", "id", "ms", "ja", "ko", "zh", "sv", "da", "nb", "no", "fi", "et", "lv", "lt", "ca",
		"eu", "gl", "ka", "hy", "kk", "uz", "az", "mn", "ne", "si", "ur", "sq", "mk", "be", "is", "af", "sw", "km":
		return code
	}
	return ""
}

// isRegional reports whether a code has a region, which nothing but languages have.
func isRegional(code string) bool { return strings.ContainsAny(code, "-_") }

// isFrequent reports whether a code is of a language that documentation is often in, and means
// nothing else.
func isFrequent(code string) bool {
	switch strings.ToLower(code) {
	case "en", "de", "fr", "ru", "ja", "jp", "ko", "kr", "zh", "cn", "uk":
		return true
	}
	return isRegional(code)
}

func isReadme(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.HasPrefix(base, "readme.") || strings.HasPrefix(base, "contributing.")
}

// isAmbiguous reports whether a code is more often a word, a programming language or a tool.
func isAmbiguous(code string) bool {
	switch strings.ToLower(code) {
	case "cs", "id", "is", "it", "no", "be", "he", "hi", "vi", "el", "ms", "et", "da", "si", "ne", "az", "fi", "sl", "ca", "af", "km", "sk", "hr", "sw", "in", "ar":
		return true
	}
	return false
}

type versionAxis struct{}

func (versionAxis) isCut(v *variant) bool { return v.edited }

func (versionAxis) parse(folder, prefix string) bool {
	return orderOf(folder).kind != unmarked && !hasReleases(prefix)
}

func (versionAxis) cut(v *variant, value string, s *slot) {
	v.version, v.edited, v.order = value, true, orderOf(value)
	v.order.old = v.order.kind == numbered && s.newest.compare(v.order) < 0
}

// accepts needs pages of the same names: more of them for a bare number, which may be a
// chapter's.
func (a versionAxis) accepts(s *slot) (values []string) {
	const leastBare = 8
	isValue := func(f string) bool { return orderOf(f).kind != unmarked || LanguageCode(f) != "" }
	named := false // a value is a number, or both the released and the next version
	s.newest = versionOrder{kind: developed}
	for value := range s.below {
		order := orderOf(value)
		if order.kind == unmarked || s.hasOther(value, isValue) {
			continue
		}
		best, latest := 0, 0
		for other := range s.below {
			if other == value || other != "" && orderOf(other).kind == unmarked {
				continue
			}
			_, own := s.shared(value, other)
			best = max(best, own)
			k := orderOf(other).kind
			if k == latestVersion || k == developed {
				latest = max(latest, own)
			}
			if k == developed && order.kind == latestVersion && own > 2 && 2*own >= len(s.below[value]) {
				named = true
			}
		}
		isHalf := 2*best >= len(s.below[value])
		switch order.kind {
		case numbered:
			if order.isBare && latest < 2 && !(best >= leastBare && isHalf) || best < 2 || !isHalf && 3*best < len(s.below[value]) {
				continue
			}
			named = true
			if _, own := s.shared(value, ""); own > 1 && 2*own >= len(s.below[value]) {
				s.newest = versionOrder{} // the pages without a version are the current ones
			}
		default:
			if best < 2 {
				continue
			}
		}
		values = append(values, value)
		if order.compare(s.newest) < 0 {
			s.newest = order
		}
	}
	if !named {
		return nil
	}
	return values
}

// hasReleases reports whether a path is one of pages about releases, of which each describes its
// own version, or of examples.
func hasReleases(prefix string) bool {
	for s := range strings.SplitSeq(strings.ToLower(prefix), "/") {
		for _, word := range [...]string{"release", "changelog", "changes", "news", "blog", "whatsnew", "upgrad", "migrat", "example", "deprecat", "announce"} {
			if strings.Contains(s, word) {
				return true
			}
		}
	}
	return false
}

// The kinds of versions, the current one first.
const (
	unmarked      = iota
	latestVersion // latest, stable, current
	numbered
	developed // main, next, dev
)

// A versionOrder is a version that can be compared with others.
type versionOrder struct {
	kind   int
	number [3]int
	count  int  // of the numbers
	isBare bool // a single number without a mark
	old    bool // a newer version is known
}

// compare orders versions, the current one first.
func (v versionOrder) compare(w versionOrder) int {
	return cmp.Or(cmp.Compare(v.kind, w.kind), slices.Compare(w.number[:], v.number[:]))
}

func (v versionOrder) numbers() []int {
	if v.count == 0 {
		return nil
	}
	return v.number[:v.count]
}

// orderOf parses the name of a folder that may be a version: 1.2, v2, 3.x, version-1.0, 15,
// latest, next.
func orderOf(folder string) versionOrder {
	name := strings.ToLower(folder)
	switch name {
	case "latest", "stable", "current":
		return versionOrder{kind: latestVersion}
	case "next", "dev", "devel", "main", "master", "nightly", "unstable", "edge", "canary", "head":
		return versionOrder{kind: developed}
	}
	v := versionOrder{kind: numbered}
	digits := name
	for _, mark := range [...]string{"version-", "release-", "stable-", "v"} {
		digits = strings.TrimPrefix(digits, mark)
	}
	if n := strings.TrimSuffix(digits, "x"); n != digits && !strings.HasSuffix(n, ".") && !strings.HasSuffix(n, "-") {
		digits = n + ".x" // 4x
	}
	parts := strings.FieldsFunc(digits, func(r rune) bool { return r == '.' || r == '-' })
	if strings.ContainsRune(digits, '-') && digits == name || strings.Count(digits, ".")+strings.Count(digits, "-") != len(parts)-1 {
		return versionOrder{} // a date, or no version
	}
	marked := digits != name
	for i, part := range parts {
		if part == "x" && i > 0 && i == len(parts)-1 {
			marked = true
			break
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || len(part) > 4 || i == len(v.number) {
			return versionOrder{}
		}
		v.number[i] = n
		v.count = i + 1
	}
	if v.count == 0 {
		return versionOrder{}
	}
	if v.count == 1 && v.number[0] >= 1000 {
		return versionOrder{} // a year
	}
	v.isBare = v.count == 1 && !marked
	return v
}
