package lexical

import (
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write thesaurus.bin")

// A source is a source file of the thesaurus.
type source struct {
	name, text string
}

func sources(t *testing.T) []source {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("thesaurus", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no sources of the thesaurus", err)
	}
	var all []source
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, source{filepath.Base(path), string(data)})
	}
	return all
}

// A thesaurusEntry is a key with its targets, analyzed.
type thesaurusEntry struct {
	written  string   // the key in the source
	key      []string // stems: sorted, or in order for a sequence, fillers marked
	sequence bool
	class    bool
	names    string   // separated by slashes
	targets  []string // the words of each are separated by spaces
}

// id returns the same string for entries with the same key.
func (e *thesaurusEntry) id() string {
	quote := ""
	if e.sequence {
		quote = `"`
	}
	return "{" + e.names + "}" + quote + strings.Join(e.key, " ")
}

// maxTargets limits the targets of a line. The more there are, the less each weighs.
const maxTargets = 6

// parseThesaurus returns the entries of a source and a message for each problem
// in it.
func parseThesaurus(a *Analyzer, s source) (entries []thesaurusEntry, problems []string) {
	p := thesaurusParser{analyzer: a, seen: make(map[string]bool)}
	last := ""
	for i, line := range strings.Split(strings.TrimSuffix(s.text, "\n"), "\n") {
		p.place = fmt.Sprintf("%s:%d", s.name, i+1)
		list, isNames := strings.CutPrefix(line, "for: ")
		switch {
		case isNames && i == 0:
			p.names = strings.ReplaceAll(list, ", ", "/")
			continue
		case strings.HasPrefix(line, "#"):
			continue
		case line <= last:
			p.problem("not sorted: it belongs before %q", last)
		}
		last = line
		p.line(line)
	}
	return p.entries, p.problems
}

// A thesaurusParser reads the lines of a source.
type thesaurusParser struct {
	analyzer *Analyzer
	names    string          // of the source
	place    string          // of the line, for messages
	seen     map[string]bool // ids of entries
	entries  []thesaurusEntry
	problems []string
}

// class appends a class as an entry: its members are the key.
func (p *thesaurusParser) class(members []string) {
	e := thesaurusEntry{written: members[0], class: true}
	for _, member := range members {
		stems, sequence := p.analyzer.thesaurusKey(member)
		if sequence || len(stems) != 1 || slices.Contains(e.key, stems[0]) {
			p.problem("%q is not a single word, or is there twice", member)
			return
		}
		e.key = append(e.key, stems[0])
	}
	p.entries = append(p.entries, e)
}

func (p *thesaurusParser) problem(format string, args ...any) {
	p.problems = append(p.problems, p.place+": "+fmt.Sprintf(format, args...))
}

// line reads a line that is neither a comment nor has the names.
func (p *thesaurusParser) line(line string) {
	if keys, list, ok := strings.Cut(line, ": "); ok {
		targets := strings.Split(list, ", ")
		if len(targets) > maxTargets {
			p.problem("%d targets, want at most %d", len(targets), maxTargets)
		}
		for _, key := range strings.Split(keys, ", ") {
			p.add(key, targets)
		}
		return
	}
	if members := strings.Split(line, " ~ "); len(members) > 1 {
		p.class(members)
		return
	}
	members := strings.Split(line, " = ")
	if len(members) < 2 {
		p.problem("%q is neither key: target nor word = word", line)
	}
	for i, key := range members {
		p.add(key, slices.Delete(slices.Clone(members), i, i+1))
	}
}

// add appends the entry of a key.
func (p *thesaurusParser) add(key string, targets []string) {
	e := thesaurusEntry{written: key, names: p.names}
	e.key, e.sequence = p.analyzer.thesaurusKey(key)
	if content(e.key) == 0 || e.sequence && len(e.key) < 2 {
		p.problem("key %s has too few words", key)
		return
	}
	for _, target := range targets {
		terms := p.analyzer.targetTerms(target)
		if len(terms) == 0 {
			p.problem("target %q has no word to search for", target)
		}
		isNew := func(term string) bool { return !slices.Contains(e.key, term) }
		if joined := strings.Join(terms, " "); slices.ContainsFunc(terms, isNew) && !slices.Contains(e.targets, joined) {
			e.targets = append(e.targets, joined)
		}
	}
	switch {
	case slices.ContainsFunc(slices.Concat(e.key, wordsIn(e.targets), []string{e.names}), func(word string) bool { return len(word) > math.MaxUint8 }):
		p.problem("key %s or one of its targets has a word of more than %d bytes", key, math.MaxUint8)
	case len(e.targets) == 0:
		p.problem("key %s leads only to itself", key)
	case p.seen[e.id()]:
		p.problem("key %s is there twice", key)
	}
	p.seen[e.id()] = true
	p.entries = append(p.entries, e)
}

// wordsIn returns the words of targets.
func wordsIn(targets []string) []string { return strings.Fields(strings.Join(targets, " ")) }

// thesaurusKey analyzes a key as a query is analyzed. It returns the stems and whether the
// key is a sequence. A key of several words of which only one counts has no stems, because
// it would match too many queries.
func (a *Analyzer) thesaurusKey(key string) (stems []string, sequence bool) {
	if strings.HasPrefix(key, `"`) {
		for _, w := range a.rawWords(key, nil) {
			if w.filler {
				w.stem = string(fillerPrefix) + w.stem
			}
			stems = append(stems, w.stem)
		}
		return stems, true
	}
	words := a.wordsOf(key, true)
	for _, w := range words {
		switch w.kind {
		case exact:
			return []string{w.term}, false
		case word:
			stems = append(stems, w.term)
		}
	}
	slices.Sort(stems)
	stems = slices.Compact(stems)
	if len(stems) == 1 && len(a.rawWords(key, nil)) > 1 {
		return nil, false
	}
	return stems, false
}

// content counts the words of a key that are not fillers.
func content(key []string) int {
	n := 0
	for _, stem := range key {
		if stem[0] != fillerPrefix {
			n++
		}
	}
	return n
}

// compileThesaurus returns the compiled form of the thesaurus.
func compileThesaurus(entries []thesaurusEntry) string {
	joined, classes := joinEntries(entries), classesOf(entries)
	uses := make(map[string]int) // of stems in keys
	for _, e := range joined {
		for _, stem := range e.key {
			uses[stem]++
		}
	}
	// The lines are in the order of the sources, not of their stems: equal targets are then
	// closer to one another, and the file is compressed better in archives.
	var heads []string
	lines := make(map[string][]*thesaurusEntry)
	for _, e := range joined {
		head := e.head(uses)
		if lines[head] == nil {
			heads = append(heads, head)
		}
		lines[head] = append(lines[head], e)
	}
	w := newThesaurusWriter(heads, joined, classes, uses)
	for _, head := range heads {
		entries := lines[head]
		slices.SortFunc(entries, func(x, y *thesaurusEntry) int {
			return cmp.Or(len(y.key)-len(x.key), strings.Compare(x.id(), y.id()))
		})
		w.line(head, entries)
	}
	return w.data()
}

// A thesaurusWriter writes a compiledThesaurus.
type thesaurusWriter struct {
	words    []string
	places   map[string]int
	frequent map[string]int // the places of frequent words among these
	stems    map[int]int    // the offset of a stem's line, by the stem's place
	classes  [][]string
	lines    []byte
}

// newThesaurusWriter returns a writer of lines with these stems and entries.
func newThesaurusWriter(heads []string, entries []*thesaurusEntry, classes [][]string, uses map[string]int) *thesaurusWriter {
	counts := make(map[string]int)
	for _, stem := range slices.Concat(heads, slices.Concat(classes...)) {
		counts[stem] = 0
	}
	for _, e := range entries {
		for _, word := range e.compiledWords(e.head(uses)) {
			counts[word]++
		}
	}
	w := &thesaurusWriter{classes: classes, places: make(map[string]int), frequent: make(map[string]int), stems: make(map[int]int)}
	byCount := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(counts[y]-counts[x], strings.Compare(x, y))
	})
	for i, word := range byCount[:min(len(byCount), firstRare-firstFrequent)] {
		w.frequent[word] = i
	}
	w.words = slices.SortedFunc(maps.Keys(counts), func(x, y string) int { return cmp.Or(len(x)-len(y), strings.Compare(x, y)) })
	for i, word := range w.words {
		w.places[word] = i
	}
	return w
}

// line writes the line of a stem.
func (w *thesaurusWriter) line(head string, entries []*thesaurusEntry) {
	w.stems[w.places[head]] = len(w.lines)
	for i, e := range entries {
		if i > 0 {
			w.lines = append(w.lines, entryEnd)
		}
		w.entry(head, e)
	}
	w.lines = append(w.lines, lineEnd)
}

func (w *thesaurusWriter) entry(head string, e *thesaurusEntry) {
	if e.names != "" {
		w.lines = append(w.lines, namesStart)
		w.word(e.names)
		w.lines = append(w.lines, namesEnd)
	}
	if e.sequence {
		w.lines = append(w.lines, sequenceMark)
	}
	for _, stem := range e.compiledKey(head) {
		if word, filler := strings.CutPrefix(stem, string(fillerPrefix)); filler && e.sequence {
			w.lines = append(w.lines, fillerMark)
			w.word(word)
		} else {
			w.word(stem)
		}
	}
	w.lines = append(w.lines, keyEnd)
	for _, target := range e.targets {
		for i, word := range strings.Fields(target) {
			if i > 0 {
				w.lines = append(w.lines, joinMark)
			}
			w.word(word)
		}
	}
}

func (w *thesaurusWriter) word(word string) {
	if i, ok := w.frequent[word]; ok {
		w.lines = append(w.lines, byte(firstFrequent+i))
		return
	}
	place := w.places[word]
	w.lines = append(w.lines, byte(firstRare+place/rareBytes), byte(firstFrequent+place%rareBytes))
}

// data returns the compiled form.
func (w *thesaurusWriter) data() string {
	var lengths, data []byte
	for i, word := range w.words {
		if i == 0 || len(word) != len(w.words[i-1]) {
			lengths = append(lengths, byte(len(word)), 0, 0)
		}
		at := len(lengths) - 2
		binary.LittleEndian.PutUint16(lengths[at:], binary.LittleEndian.Uint16(lengths[at:])+1)
	}
	data = append(data, byte(len(lengths)/lengthSize))
	data = append(data, lengths...)
	data = append(data, strings.Join(w.words, "")...)
	frequent := slices.SortedFunc(maps.Keys(w.frequent), func(x, y string) int { return w.frequent[x] - w.frequent[y] })
	data = append(data, byte(len(frequent)))
	for _, word := range frequent {
		data = binary.LittleEndian.AppendUint16(data, uint16(w.places[word]))
	}
	data = binary.LittleEndian.AppendUint16(data, uint16(len(w.stems)))
	for _, place := range slices.Sorted(maps.Keys(w.stems)) {
		data = binary.LittleEndian.AppendUint16(data, uint16(place))
		offset := w.stems[place]
		data = append(data, byte(offset), byte(offset>>8), byte(offset>>16))
	}
	members := len(w.classes) + len(slices.Concat(w.classes...))
	data = binary.LittleEndian.AppendUint16(data, uint16(members))
	for _, class := range w.classes {
		for _, stem := range class {
			data = binary.LittleEndian.AppendUint16(data, uint16(w.places[stem]+1))
		}
		data = append(data, 0, 0)
	}
	return string(append(data, w.lines...))
}

// joinEntries returns an entry for each key, with the targets of all entries that have the
// key, in the order of the first ones.
func joinEntries(entries []thesaurusEntry) []*thesaurusEntry {
	var joined []*thesaurusEntry
	byID := make(map[string]*thesaurusEntry)
	for _, e := range entries {
		if e.class {
			continue
		}
		old := byID[e.id()]
		if old == nil {
			e.targets = slices.Clone(e.targets)
			byID[e.id()] = &e
			joined = append(joined, &e)
			continue
		}
		for _, target := range e.targets {
			if !slices.Contains(old.targets, target) {
				old.targets = append(old.targets, target)
			}
		}
	}
	return joined
}

// classesOf returns the stems of the classes.
func classesOf(entries []thesaurusEntry) (classes [][]string) {
	for _, e := range entries {
		if e.class {
			classes = append(classes, e.key)
		}
	}
	return classes
}

// head returns the stem of the key with the fewest uses. Fillers have none.
func (e *thesaurusEntry) head(uses map[string]int) string {
	head := ""
	for _, stem := range e.key {
		if stem[0] != fillerPrefix && (head == "" || cmp.Or(cmp.Compare(uses[stem], uses[head]), strings.Compare(stem, head)) < 0) {
			head = stem
		}
	}
	return head
}

// compiledKey returns the key as compiled into the line of head.
func (e *thesaurusEntry) compiledKey(head string) []string {
	if e.sequence {
		return e.key
	}
	at := slices.Index(e.key, head)
	return slices.Delete(slices.Clone(e.key), at, at+1)
}

// compiledWords returns the words of the entry in the line of head.
func (e *thesaurusEntry) compiledWords(head string) []string {
	words := wordsIn(e.targets)
	if e.names != "" {
		words = append(words, e.names)
	}
	for _, stem := range e.compiledKey(head) {
		if e.sequence {
			stem = strings.TrimPrefix(stem, string(fillerPrefix))
		}
		words = append(words, stem)
	}
	return words
}

func TestThesaurus(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	var all []thesaurusEntry
	for _, s := range sources(t) {
		entries, problems := parseThesaurus(a, s)
		for _, p := range problems {
			t.Error(p)
		}
		t.Logf("%s: %d entries", s.name, len(entries))
		all = append(all, entries...)
	}
	data := compileThesaurus(all)
	t.Logf("%d entries, %d bytes", len(all), len(data))
	switch {
	case *update:
		if err := os.WriteFile("thesaurus.bin", []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	case data != thesaurusData:
		t.Error("thesaurus.bin does not match the sources: run go generate ./internal/index/lexical")
	}
	c := openThesaurus(data)
	if most := (256 - firstRare) * rareBytes; c.find(c.word(most-1)) >= 0 || len(c.lines) >= 1<<24 {
		t.Errorf("more than %d words or %d bytes of lines: the format has no room for them", most, 1<<24)
	}
	written := 0
	for at := 0; at < len(c.stems); at += stemSize {
		written += 1 + strings.Count(c.line(uint16At(c.stems, at)), string(byte(entryEnd)))
	}
	if joined := joinEntries(all); written != len(joined) {
		t.Errorf("%d entries in the compiled form, want %d", written, len(joined))
	}
	for _, stem := range []string{"", "aaaa", "zzzz", "delet\n", "delet 0", strings.Repeat("x", 300)} {
		if got := c.line(c.find(stem)); got != "" {
			t.Errorf("%q has the entries %q", stem, got)
		}
	}
}

// A query that consists of a key gets the targets of that key.
func TestThesaurusKeysMatch(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources(t) {
		entries, _ := parseThesaurus(a, s)
		for _, e := range entries {
			if e.class {
				continue
			}
			_, added := a.queryTerms(&Query{Names: strings.Split(e.names, "/")[:1]}, e.written, a.contentWords(e.written, nil))
			if !slices.ContainsFunc(added, e.within) {
				t.Errorf("%s: query %s does not get %v", s.name, e.written, e.targets)
			}
		}
	}
}

// within reports whether an expansion has all targets of an entry.
func (e *thesaurusEntry) within(x expansion) bool {
	targets := strings.Fields(x.targets)
	return !slices.ContainsFunc(wordsIn(e.targets), func(word string) bool { return !slices.Contains(targets, word) })
}

// Compiled entries of any source match their own keys.
func FuzzThesaurus(f *testing.F) {
	f.Add("join the commits, squashing: rebase, ON_ERROR_STOP, --amend", "in order to join commits")
	f.Add("dict = hash map", "dict")
	f.Add("for: rust, cargo\n\"string to int\": parse", "a string into an int, string to int")
	f.Add("\"the of\": x\n#\nc++, a||b, a>b: {c}, d~e", "")
	f.Fuzz(func(t *testing.T, text, query string) {
		a, err := NewAnalyzer("")
		if err != nil {
			t.Fatal(err)
		}
		entries, problems := parseThesaurus(a, source{"x.txt", text[:min(len(text), 2000)]})
		if len(problems) > 0 {
			return
		}
		c := openThesaurus(compileThesaurus(entries))
		find := func(c compiledThesaurus, text, names string) []expansion {
			terms, _ := a.queryTerms(&Query{}, text, a.wordsOf(text, false))
			m := newMatcher(a, c, terms)
			m.text, m.names = text, strings.Split(names, "/")
			m.matchAll()
			return m.found
		}
		for _, e := range entries {
			targets := strings.Join(e.targets, " ")
			if e.class {
				continue
			}
			if found := find(openThesaurus(compileThesaurus([]thesaurusEntry{e})), e.written, e.names); len(found) != 1 || found[0].targets != targets {
				t.Fatalf("%+v alone is not found by its key: %+v", e, found)
			}
			if found := find(c, e.written, e.names); !slices.ContainsFunc(found, func(x expansion) bool { return x.targets == targets }) {
				t.Fatalf("%+v is not found by its key: %+v", e, found)
			}
		}
		for _, x := range find(c, query[:min(len(query), 500)], "") {
			if x.size == 0 || x.key == 0 {
				t.Fatalf("%q finds an entry with an empty key: %+v", query, x)
			}
		}
	})
}

func TestAlternates(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	entries, problems := parseThesaurus(a, source{"x.txt", `"merge into one": fixup
combine ~ join ~ merge
commit ~ change ~ revision
join branches: octopus
join commits, merge commits: squash
`})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := openThesaurus(compileThesaurus(entries))
	for _, tt := range []struct{ query, want string }{
		{"join commits", "squash/0 squash/1"}, // its other key, which adds nothing
		{"combine commits", "squash/1 squash/1"},
		{"merge revisions", "squash/1"},
		{"combine revisions", ""},    // no word of the key
		{"combine", ""},              // a single word
		{"branches and commits", ""}, // not both words
		{"merge it into one", "fixup/0"},
		{"combine into one", ""}, // a sequence has its own words
		{"join combine branches", "octopus/0"},
	} {
		terms, _ := a.queryTerms(&Query{}, tt.query, a.wordsOf(tt.query, true))
		m := newMatcher(a, c, terms)
		m.text = tt.query
		m.matchAll()
		var got []string
		for _, e := range m.found {
			got = append(got, fmt.Sprintf("%s/%d", e.targets, e.replaced))
			if e.replaced > 0 && (e.share >= 1 || e.size != 2) {
				t.Errorf("%q: %+v", tt.query, e)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q has the entries %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestParseThesaurus(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want, problem string }{
		{"keys", "# x\njoin the commits, squashing: rebase, ON_ERROR_STOP, --amend\n",
			"{}commit join>rebas =on_error_stop =--amend {}squash>rebas =on_error_stop =--amend", ""},
		{"equivalents", "dict = hash map\n", "{}dict>hash map {}hash map>dict", ""},
		{"sequence", `"string to int": parse`, `{}"string ~to int>pars`, ""},
		{"names", "for: rust, cargo\nvector: vec\n", "{rust/cargo}vector>vec", ""},
		{"a target of the key", "join commits: commit, squash\n", "{}commit join>squash", ""},
		{"no form", "just words\n", "", "neither"},
		{"not sorted", "y: c\nx: c\n", "{}y>c {}x>c", "not sorted"},
		{"twice", "join commits: squash\nthe commits joined: rebase\n", "{}commit join>squash {}commit join>rebas", "twice"},
		{"itself", "commits: commit\n", "{}commit>", "only to itself"},
		{"one word counts", "how to commit: squash\n", "", "too few words"},
		{"nothing to search for", "commit: the, x\n", "{}commit>x", "no word"},
		{"too many", "a1: b, c, d, e, f, g, h\n", "{}a1>b c d e f g h", "at most 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, problems := parseThesaurus(a, source{"x.txt", tt.text})
			var got []string
			for _, e := range entries {
				got = append(got, e.id()+">"+strings.Join(e.targets, " "))
			}
			if diff := gocmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			switch all := strings.Join(problems, "\n"); {
			case tt.problem == "" && all != "":
				t.Errorf("problems: %s", all)
			case !strings.Contains(all, tt.problem):
				t.Errorf("problems are %q, want one with %q", all, tt.problem)
			}
		})
	}
}

// Every target is a word that documentation uses, which catches misspellings: it is in
// background.txt, it is written as a name, or testdata/thesaurus_words.txt lists it as
// rare.
func TestThesaurusTargetsAreWords(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("testdata", "thesaurus_words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(data))
	if !slices.IsSorted(words) {
		t.Error("thesaurus_words.txt is not sorted")
	}
	used := make(map[string]bool)
	for _, s := range sources(t) {
		for _, target := range targetsOf(s) {
			if strings.ToLower(target) != target || strings.ContainsAny(target, "0123456789_.:-/#$@!&|=+*%'\\<>([{?") {
				continue // a name
			}
			for _, w := range a.rawWords(target, nil) {
				_, common := lookup(background, w.stem)
				_, listed := slices.BinarySearch(words, w.folded)
				if !common && !listed && !w.filler {
					t.Errorf("%s: target %q: is %q a word of documentation? Then add it to thesaurus_words.txt", s.name, target, w.folded)
				}
				used[w.folded] = used[w.folded] || !common
			}
		}
	}
	for _, w := range words {
		if !used[w] {
			t.Errorf("thesaurus_words.txt: %q is not needed", w)
		}
	}
}

// targetsOf returns all targets in a source.
func targetsOf(s source) []string {
	var all []string
	for line := range strings.Lines(s.text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "for: ") || strings.HasPrefix(line, "#") || strings.Contains(line, " ~ ") {
			continue
		}
		if _, list, ok := strings.Cut(line, ": "); ok {
			all = append(all, strings.Split(list, ", ")...)
		} else {
			all = append(all, strings.Split(line, " = ")...)
		}
	}
	return all
}

func TestExpand(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		query  Query
		want   string // targets, separated by blanks
		refuse string
	}{
		{"words of a key in any order", Query{Text: "how can commits be combined"}, "squash rebas", ""},
		{"with others between them", Query{Text: "combine my last two git commits"}, "squash", ""},
		{"one word", Query{Text: "hashmap"}, "dictionari", ""},
		{"a sequence", Query{Text: "convert a string to an int"}, "atoi parseint", "itoa"},
		{"a sequence the other way round", Query{Text: "convert an int to a string"}, "itoa", "atoi parseint"},
		{"a sequence with a word between", Query{Text: "string copied to int"}, "", "atoi"},
		{"part of a longer key", Query{Text: "undo last commit"}, "amend", "cherry-pick"},
		{"a name of the database", Query{Text: "read file line by line", Names: []string{"Rust"}}, "bufread", "getlin"},
		{"a name in the query", Query{Text: "read file line by line rust"}, "bufread", ""},
		{"no name", Query{Text: "read file line by line"}, "readlin", "bufread"},
		{"terms beyond the limit", Query{Text: numbered(maxKeyTerms-1) + "combine commits"}, "join", "squash"},
		{"terms within the limit", Query{Text: numbered(maxKeyTerms-2) + "combine commits"}, "join squash", ""},
		{"nothing", Query{Text: "xyzzy"}, "", ""},
		{"no text", Query{}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(map[string]bool)
			for _, e := range a.plan(&tt.query, nil).expansions {
				for target := range strings.FieldsSeq(e.targets) {
					got[target] = true
				}
			}
			missing := func(target string) bool { return !got[target] && !got["="+target] }
			for target := range strings.FieldsSeq(tt.want) {
				if missing(target) {
					t.Errorf("%q is not among %v", target, slices.Sorted(maps.Keys(got)))
				}
			}
			for target := range strings.FieldsSeq(tt.refuse) {
				if !missing(target) {
					t.Errorf("%q is among %v", target, slices.Sorted(maps.Keys(got)))
				}
			}
		})
	}
	german, err := NewAnalyzer("german")
	if err != nil {
		t.Fatal(err)
	}
	if added := german.plan(&Query{Text: "combine commits"}, nil).expansions; added != nil {
		t.Errorf("a German query has the synonyms %v", added)
	}
}

// numbered returns n different words, each followed by a space.
func numbered(n int) string {
	var words strings.Builder
	for i := range n {
		fmt.Fprintf(&words, "zq%c%ck ", 'a'+i/26, 'a'+i%26)
	}
	return words.String()
}

// weights returns the weights of the terms that the thesaurus adds to a query.
func weights(t *testing.T, x *Index, text string) map[string]float64 {
	t.Helper()
	p := x.analyzer.plan(&Query{Text: text}, nil)
	terms, said, err := x.openTerms(&p)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	own := 0
	for _, term := range terms {
		switch {
		case term.symbol:
		case term.fromQuery:
			own++
		default:
			all[term.term] = term.weight
		}
	}
	if said.words < own {
		t.Errorf("%q: confidence rests on %d words of %d", text, said.words, own)
	}
	return all
}

// In an index where all words are equally rare, the weights follow from the
// constants alone.
func TestSynonymWeights(t *testing.T) {
	one := func(words string) *Index {
		return build(t, []uint32{0, 0}, []Fields{{Title: "x", Body: words}, {Title: "y", Body: "nothing"}})
	}
	for _, tt := range []struct {
		name, text, index, synonym string
		want                       float64
	}{
		{"one target of a phrase", "combine commits", "combine commits squash", "squash", 2 * phraseWeight},
		{"two targets of a phrase", "combine commits", "combine commits squash rebase", "squash", 2 * phraseWeight / math.Sqrt2},
		{"a word", "hashmap", "hashmap dictionary", "dictionari", wordWeight},
		{"a word of a phrase", "combine commits", "combine commits squash join", "join", wordWeight * coveredShare},
		{"a word of a phrase without targets here", "combine commits", "combine commits join", "join", wordWeight},
		{"a long query", "combine commits alpha beta gamma delta epsilon zeta eta theta", "combine commits squash", "squash", 2 * phraseWeight * manyTerms / 10},
		{"a word of the query", "combine commits squash", "combine commits squash", "squash", 0},
		{"a word that is not in the index", "combine commits", "combine commits", "squash", 0},
	} {
		if got := weights(t, one(tt.index), tt.text)[tt.synonym]; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %q weighs %g, want %g", tt.name, tt.synonym, got, tt.want)
		}
	}
	single := build(t, []uint32{0, 1}, []Fields{{Title: "x", Body: "hashmap dictionary"}, {Title: "y", Body: "nothing"}})
	if got := weights(t, single, "hashmap")["dictionari"]; math.Abs(got-wordWeight*singleShare) > 1e-9 {
		t.Errorf("in a collection of passages a synonym weighs %g, want %g", got, wordWeight*singleShare)
	}
}

// A target, however rare, does not outweigh the words that it belongs to.
func TestRareSynonymsStaySmall(t *testing.T) {
	passages := []Fields{{Title: "squash", Body: "squash"}, {Title: "rebase", Body: "rebase"}}
	for range 50 {
		passages = append(passages, Fields{Title: "commits", Body: "a commit"}, Fields{Title: "combine", Body: "to combine"})
	}
	x := build(t, make([]uint32, len(passages)), passages)
	p := x.analyzer.plan(&Query{Text: "combine commits"}, nil)
	terms, _, err := x.openTerms(&p)
	if err != nil {
		t.Fatal(err)
	}
	own, added := 0., 0.
	for _, term := range terms {
		if term.fromQuery {
			own += term.idfMass
		} else {
			added += term.idfMass
		}
	}
	if added <= 0 || added > own {
		t.Errorf("synonyms weigh %g together, the query's own words %g", added, own)
	}
}

func TestSynonymsAreLimited(t *testing.T) {
	var text strings.Builder
	c := openThesaurus(thesaurusData)
	for at := 0; at < len(c.stems); at += stemSize {
		line := c.line(uint16At(c.stems, at))
		_, targets, _ := strings.Cut(line, string(byte(keyEnd)))
		targets, _, _ = strings.Cut(targets, string(byte(entryEnd)))
		text.WriteString(c.text(targets) + " ")
	}
	x := build(t, []uint32{0}, []Fields{{Title: "all", Body: text.String()}})
	if n := len(weights(t, x, "combine split copy commits branches files tables columns strings lists dates")); n != maxSynonyms {
		t.Errorf("%d synonyms, want %d", n, maxSynonyms)
	}
}

// Synonyms alone do not make a database confident, and many of them hardly reduce the
// confidence.
func TestSynonymsAndConfidence(t *testing.T) {
	strength := func(body, query string) float64 {
		t.Helper()
		x := build(t, []uint32{0, 0}, []Fields{{Title: "x", Body: body}, {Title: "y", Body: "squash rebase fixup merge join"}})
		_, s, err := x.Search(Query{Text: query, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		return s.RelativeScore
	}
	if got := strength("dictionary mapping", "hashmap"); got != 0 {
		t.Errorf("relative score of synonyms of an unknown word: %g", got)
	}
	plain := strength("alpha beta", "alpha beta")
	got := strength("combine commits", "combine commits")
	if least := plain / (1 + maxSynonymShare) * .99; got < least || got > plain {
		t.Errorf("relative score of the query's own words with synonyms: %g, want %g to %g", got, least, plain)
	}
}
