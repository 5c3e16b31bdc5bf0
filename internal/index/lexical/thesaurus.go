package lexical

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// The thesaurus maps words that people search with to words that documentation uses. Its
// sources are in folder thesaurus, one file per domain. A line has one of the forms
//
//	combine commits, join commits: squash, rebase, fixup
//	dict = dictionary = hash map
//	delete ~ remove ~ erase
//	for: rust, cargo
//	# a comment
//
// The first maps each of its keys to up to six targets. The second maps each of its
// members to the others. The third is a class and adds nothing itself: a key also matches
// a query that has another member of the class in place of its word, if it has a further
// word of the key as written. The fourth is the first line of a file and restricts its
// entries to databases and queries with one of these names.
//
// A key matches a query that contains all its words, anywhere and in any order; stop words
// and question words do not count. A key in quotes, as "string to int", is a sequence: its
// words must be adjacent, stop words included, except for words between them that do not
// count. A target that is written as a name, such as ON_ERROR_STOP or --amend, adds that
// name; any other adds its words.
//
// The lines of a file are sorted, and each key occurs once. Files may share a key: the
// targets are joined.
//
// A search reads the compiled form, see compiledThesaurus. An entry is filed there under the
// stem of its key that occurs in the fewest keys. A build uses the thesaurus the other way
// around, see asker.

const (
	// The total weight of an entry's targets is that of its key, times the square root of
	// their number, times phraseWeight for a key of several words or wordWeight for a
	// single word. If the word also belongs to a longer key in the query, times
	// coveredShare.
	phraseWeight = .6
	wordWeight   = .4
	coveredShare = .7
	// alternateShare is what is left of an entry's weight for each word of its key that the
	// query has only as another member of its class.
	alternateShare = .9
	// Synonyms weigh less in queries of more than manyTerms terms, which are specific
	// without them, and in indexes of single passages, where the query's own words cannot
	// be elsewhere on the page.
	manyTerms   = 5
	singleShare = .5
	// maxKeyTerms limits the query terms matched with keys: each has a bit in
	// expansion.key.
	maxKeyTerms = 64
	// maxSynonyms limits the number of added terms. 12 do not improve results, and 8 lose
	// .002 of nDCG@10 in collections of short texts.
	maxSynonyms = 10
	// usualSynonyms is a capacity estimate.
	usualSynonyms = 16

	// fillerPrefix is the prefix of a word of a sequence that does not count.
	fillerPrefix = '~'
)

// An expansion is a thesaurus entry that matches a query.
type expansion struct {
	key     uint64  // mask of the query's terms that form its key
	size    int     // number of words in its key
	targets string  // the terms it adds, separated by spaces
	share   float64 // factor of its weight, less than 1 in a long query
	// replaced is the number of words of its key that the query has only as another member
	// of their class.
	replaced int
}

// expand returns the thesaurus entries that match a text with these words and terms, in a
// database with these names, the longest keys first.
func (a *Analyzer) expand(text string, words []contentWord, names []string, terms []queryTerm) []expansion {
	m := newMatcher(a, openThesaurus(thesaurusData), terms)
	m.text, m.content, m.names = text, words, names
	m.matchAll()
	slices.SortStableFunc(m.found, func(a, b expansion) int { return cmp.Or(a.replaced-b.replaced, b.size-a.size) })
	return m.found
}

// A matcher finds the entries that match a query.
type matcher struct {
	analyzer   *Analyzer
	thesaurus  compiledThesaurus
	text       string
	content    []contentWord // of the text
	names      []string      // of the database
	terms      []queryTerm
	places     []int // of the terms in the thesaurus
	alternates []alternate
	share      float64
	words      []rawWord // of the text, read on first use
	found      []expansion
}

// An alternate is a word that keys may have in place of a term of the query.
type alternate struct{ place, term int }

func newMatcher(a *Analyzer, t compiledThesaurus, terms []queryTerm) matcher {
	m := matcher{analyzer: a, thesaurus: t, terms: terms[:min(len(terms), maxKeyTerms)],
		share: min(1, manyTerms/float64(len(terms)))}
	m.places = make([]int, len(m.terms))
	for i, term := range m.terms {
		m.places[i] = t.find(term.term)
	}
	m.findAlternates()
	return m
}

// findAlternates collects the other members of the terms' classes.
func (m *matcher) findAlternates() {
	classes := m.thesaurus.classes
	for from := 0; from < len(classes); {
		to := from
		term := -1
		for ; uint16At(classes, to) > 0; to += 2 {
			if term < 0 {
				term = slices.Index(m.places, uint16At(classes, to)-1)
			}
		}
		for at := from; term >= 0 && at < to; at += 2 {
			place := uint16At(classes, at) - 1
			if !slices.Contains(m.places, place) && m.alternate(place) < 0 {
				m.alternates = append(m.alternates, alternate{place, term})
			}
		}
		from = to + 2
	}
}

// alternate returns the index of the term that has a word as an alternate, or -1.
func (m *matcher) alternate(place int) int {
	for _, a := range m.alternates {
		if a.place == place {
			return a.term
		}
	}
	return -1
}

// matchAll appends all entries whose keys the query contains.
func (m *matcher) matchAll() {
	m.entries(m.match)
}

// entries calls each with the entries whose key has a term or an alternate at its head: the
// index of that term, and 1 if the key has the alternate, else 0.
func (m *matcher) entries(each func(i, replaced int, e compiledEntry)) {
	for i, place := range m.places {
		for e := range m.thesaurus.entries(place) {
			each(i, 0, e)
		}
	}
	for _, a := range m.alternates {
		for e := range m.thesaurus.entries(a.place) {
			each(a.term, 1, e)
		}
	}
}

// A rawWord is a word of a query, stop words included.
type rawWord struct {
	folded string
	stem   string
	filler bool // a stop word or question word
}

// match appends an entry if the query contains its key, see entries.
func (m *matcher) match(i, replaced int, parts compiledEntry) {
	e := expansion{key: 1 << i, share: m.share}
	fillers := 0
	for rest := parts.key; rest != ""; {
		if rest[0] == fillerMark {
			_, rest = m.thesaurus.next(rest[1:])
			fillers++
			continue
		}
		var place int
		place, rest = m.thesaurus.next(rest)
		j := slices.Index(m.places, place)
		if j < 0 {
			if j = m.alternate(place); j < 0 || e.key>>j&1 == 1 {
				return
			}
			replaced++
		}
		e.key |= 1 << j
	}
	e.size = bits.OnesCount64(e.key) + fillers
	if replaced > 0 {
		if parts.isSequence || replaced >= bits.OnesCount64(e.key) {
			return
		}
		e.share *= math.Pow(alternateShare, float64(replaced))
		e.replaced = replaced
	}
	if m.allows(parts) {
		e.targets = m.thesaurus.text(parts.targets)
		m.found = append(m.found, e)
	}
}

// allows reports whether the query has the sequence of an entry, if that is one, and one of
// its names, if it has any.
func (m *matcher) allows(e compiledEntry) bool {
	return (!e.isSequence || m.hasSequence(m.thesaurus.text(e.key))) &&
		(e.names == "" || m.isNamed(m.thesaurus.text(e.names)))
}

// isNamed reports whether the database or the text has one of the slash-separated names.
func (m *matcher) isNamed(names string) bool {
	if hasAnyName(names, m.names) {
		return true
	}
	m.readWords()
	for name := range strings.SplitSeq(names, "/") {
		if slices.ContainsFunc(m.words, func(w rawWord) bool { return w.folded == name }) {
			return true
		}
	}
	return false
}

// hasAnyName reports whether a database has one of the slash-separated names.
func hasAnyName(names string, database []string) bool {
	for name := range strings.SplitSeq(names, "/") {
		if isAnyName(name, database) {
			return true
		}
	}
	return false
}

// hasSequence reports whether the space-separated words of a key follow one another in the
// text.
func (m *matcher) hasSequence(key string) bool {
	m.readWords()
	for i := range m.words {
		if follows(m.words[i:], key) {
			return true
		}
	}
	return false
}

// follows reports whether words start with those of a key. It skips fillers that are not
// in the key.
func follows(words []rawWord, key string) bool {
	for i := range words {
		want, rest, _ := strings.Cut(key, " ")
		switch {
		case words[i].stem == strings.TrimPrefix(want, string(fillerPrefix)):
			if rest == "" {
				return true
			}
			key = rest
		case i == 0 || !words[i].filler:
			return false
		}
	}
	return false
}

func (m *matcher) readWords() {
	if m.words == nil {
		m.words = m.analyzer.rawWords(m.text, m.content)
	}
}

// rawWords returns the words of a text. The stem of a stop word is the word itself.
// content are words of the text in order, whose stems are known.
func (a *Analyzer) rawWords(text string, content []contentWord) []rawWord {
	var words []rawWord
	scan(text, 0, func(t token) {
		if t.kind != word {
			return
		}
		w := rawWord{folded: string(fold(nil, text[t.start:t.end]))}
		for len(content) > 0 && (content[0].start < t.start || content[0].kind != word) {
			content = content[1:]
		}
		if len(content) > 0 && content[0].start == t.start {
			w.stem = content[0].term
		} else {
			w.stem = a.stemOf(w.folded)
		}
		w.filler = w.stem == "" || a.isQuestionWord(w.folded)
		if w.stem == "" {
			w.stem = w.folded
		}
		words = append(words, w)
	})
	return words
}

// A synonym is a thesaurus target that the index contains.
type synonym struct {
	postingList
	term   string
	weight float64
	rarity float64 // idf
}

// addSynonyms appends to the terms of a query the targets of its expansions that the index
// contains, at most maxSynonyms. rarities are the idf of the query's own terms.
//
// The weight of an expansion's targets depends on the idf of its key, not on their own.
// Otherwise rare names would outweigh the query's own words. The weights of a target of
// several expansions are added. A key of several words that a longer key contains adds
// nothing, unless the index lacks all targets of the longer key. In an index of single
// passages, keys match as they are written.
func (x *Index) addSynonyms(terms []scoredTerm, expansions []expansion, rarities []float64) ([]scoredTerm, error) {
	f := synonymFinder{index: x, indexes: make(map[string]int, len(terms)+usualSynonyms)}
	for i := range terms {
		f.indexes[terms[i].term] = -1
	}
	var used []expansion // those of several words with targets
	for _, e := range expansions {
		if e.isWithin(used) || e.replaced > 0 && x.single {
			continue
		}
		targets, err := f.find(e.targets)
		if err != nil {
			return nil, err
		}
		if len(targets) == 0 {
			continue
		}
		f.weigh(targets, e.share*e.keyShare(used)*e.rarity(rarities), e.replaced > 0)
		if e.size > 1 {
			used = append(used, e)
		}
	}
	if len(f.found) > maxSynonyms {
		slices.SortStableFunc(f.found,
			func(a, b synonym) int { return cmp.Compare(b.weight*b.rarity, a.weight*a.rarity) })
		f.found = f.found[:maxSynonyms]
	}
	for i := range f.found {
		s := &f.found[i]
		terms = append(terms, scoredTerm{queryTerm: queryTerm{term: s.term, weight: s.weight},
			cursor: newCursor(s.postingList)})
	}
	return terms, nil
}

// isWithin reports whether a longer key of used contains a key of several words.
func (e expansion) isWithin(used []expansion) bool {
	return e.size > 1 && slices.ContainsFunc(used,
		func(u expansion) bool { return u.size > e.size && e.key&^u.key == 0 })
}

// keyShare returns the weight of a single target relative to the key's. used are the
// longer expansions that add targets, too.
func (e expansion) keyShare(used []expansion) float64 {
	switch {
	case e.size > 1:
		return phraseWeight
	case slices.ContainsFunc(used, func(u expansion) bool { return e.key&u.key != 0 }):
		return wordWeight * coveredShare
	}
	return wordWeight
}

// rarity returns the total idf of the key's terms.
func (e expansion) rarity(rarities []float64) float64 {
	sum := 0.
	for key := e.key; key != 0; key &= key - 1 {
		sum += rarities[bits.TrailingZeros64(key)]
	}
	return sum
}

// A synonymFinder looks up targets in an index.
type synonymFinder struct {
	index   *Index
	found   []synonym
	indexes map[string]int // index in found of each term; -1: do not add
	buffer  []int
}

// find returns the indexes in found of targets, without terms of the query and terms that
// the index lacks. The result is valid until the next call.
func (f *synonymFinder) find(targets string) ([]int, error) {
	f.buffer = f.buffer[:0]
	for target := range strings.FieldsSeq(targets) {
		i, seen := f.indexes[target]
		if !seen {
			l, found, err := f.index.postingList(target)
			if err != nil {
				return nil, err
			}
			if i = -1; found {
				i = len(f.found)
				f.found = append(f.found,
					synonym{postingList: l, term: target, rarity: idf(l.passageFrequency, f.index.passageCount)})
			}
			f.indexes[target] = i
		}
		if i >= 0 && !slices.Contains(f.buffer, i) {
			f.buffer = append(f.buffer, i)
		}
	}
	return f.buffer, nil
}

// weigh adds weight to the targets at these indexes of found, such that a target of
// average idf contributes mass divided by the square root of their number. If replaced is
// set, a target has at least that weight instead: keys of the same entry differ in such
// words.
func (f *synonymFinder) weigh(indexes []int, mass float64, replaced bool) {
	sum := 0.
	for _, i := range indexes {
		sum += f.found[i].rarity
	}
	weight := mass * math.Sqrt(float64(len(indexes))) / sum
	if f.index.single {
		weight *= singleShare
	}
	for _, i := range indexes {
		if replaced {
			f.found[i].weight = max(f.found[i].weight, weight)
		} else {
			f.found[i].weight += weight
		}
	}
}
