package lexical

import (
	"slices"
	"strings"
	"sync"
)

// A passage is also found by words that it does not contain: those of the thesaurus's keys
// that lead to its subject. The passage about git's --amend has the term @?last, because of
// the key "add to last commit". While a query gets the targets of a key only if it has all
// words of that, any of the words contributes to the score of such a passage.

// askedWeight is the weight of a word by which people ask for a passage, relative to a word
// that the passage contains, in queries of up to manyTerms terms. Like synonyms, such words
// weigh less in longer ones. Between .3 and .7, nDCG@10 on documentation is within .006 of
// its best.
const askedWeight = .6

// askedMark follows symbolMark in the term of such a word.
const askedMark = '?'

// askedTerm returns the term of a word by which people ask for a passage, or "".
func askedTerm(stem string) string { return exactTerm(symbolMark, string(askedMark)+stem) }

// addAsked appends the terms by which people ask for passages with the words of a query. A
// query that consists of a name asks for the passage that defines it.
func (x *Index) addAsked(terms []scoredTerm, query []queryTerm) ([]scoredTerm, error) {
	if x.single || slices.ContainsFunc(terms, func(t scoredTerm) bool { return t.symbol && t.weight >= wholeBonus }) {
		return terms, nil
	}
	own := 0.
	for i := range query {
		own += number(query[i].fromQuery)
	}
	share := askedWeight * min(1, manyTerms/own)
	for _, t := range query {
		if !t.fromQuery || t.composite || t.term[0] == exactMark || t.term[0] == symbolMark {
			continue
		}
		term := askedTerm(t.term)
		l, found, err := x.postingList(term)
		if err != nil {
			return nil, err
		}
		if found {
			terms = append(terms, scoredTerm{queryTerm: queryTerm{term: term, weight: share * t.weight, asked: true},
				cursor: newCursor(l)})
		}
	}
	return terms, nil
}

// An asker finds the words by which people ask for passages of a database.
type asker struct {
	analyzer *Analyzer
	names    []string // of the database
}

// words returns the words by which people ask for a passage that defines names.
func (a asker) words(f *Fields, names []symbol) []string {
	if !a.analyzer.thesauri {
		return nil
	}
	text := sync.OnceValue(func() string {
		return strings.ToLower(strings.Join(append([]string{f.Page, f.Title, f.Body}, f.Path...), "\n"))
	})
	var words []string
	for _, subject := range a.analyzer.subjects(f, names) {
		for _, key := range keysByTarget()[subject] {
			if !a.leads(key, subject, text) {
				continue
			}
			for _, word := range key.words {
				if !slices.Contains(words, word) {
					words = append(words, word)
				}
			}
		}
	}
	return words
}

// leads reports whether a key leads to a passage with this subject and lower-cased text. If
// the subject is ambiguous, the key must be for databases with certain names, and the
// passage must have another target of the key, too.
func (a asker) leads(key *thesaurusKey, subject string, text func() string) bool {
	switch {
	case key.names != "" && !hasAnyName(key.names, a.names):
		return false
	case !isAmbiguous(subject):
		return true
	}
	return key.names != "" && slices.ContainsFunc(key.targets, func(target string) bool {
		return target != subject && hasTarget(text(), target)
	})
}

// A thesaurusKey is a key of the thesaurus.
type thesaurusKey struct {
	words   []string // stems
	targets []string // the words of each are separated by spaces
	names   string   // separated by slashes; empty: for all databases
}

// keysByTarget returns the keys of the thesaurus that lead to each target. A sync.OnceValue
// would be initialized at every start of the hook.
func keysByTarget() map[string][]*thesaurusKey {
	askedOnce.Do(func() { askedKeys = readKeys() })
	return askedKeys
}

var (
	askedOnce sync.Once
	askedKeys map[string][]*thesaurusKey
)

func readKeys() map[string][]*thesaurusKey {
	keys := make(map[string][]*thesaurusKey)
	t := openThesaurus(thesaurusData)
	for at := 0; at < len(t.stems); at += stemSize {
		place := uint16At(t.stems, at)
		head := t.word(place)
		for e := range t.entries(place) {
			k := &thesaurusKey{targets: t.targets(e.targets), names: t.text(e.names)}
			for word := range strings.FieldsSeq(head + " " + t.text(e.key)) {
				if word[0] != fillerPrefix && !slices.Contains(k.words, word) {
					k.words = append(k.words, word)
				}
			}
			for _, target := range k.targets {
				keys[target] = append(keys[target], k)
			}
		}
	}
	return keys
}

// isAmbiguous reports whether passages about other things may have the same subject: it is
// an option, such as --force, or a single word.
func isAmbiguous(subject string) bool {
	return strings.HasPrefix(subject, string(exactMark)+"-") ||
		subject[0] != exactMark && !strings.Contains(subject, " ")
}

// hasTarget reports whether a lower-cased text has a target.
func hasTarget(text, target string) bool {
	const least = 3 // bytes
	for word := range strings.FieldsSeq(strings.TrimPrefix(target, string(exactMark))) {
		if len(word) < least || !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// subjects returns what a passage that defines names is about, as targets of the thesaurus:
// these names and the words of its heading.
func (a *Analyzer) subjects(f *Fields, names []symbol) []string {
	var found []string
	add := func(text string) {
		if target := strings.Join(a.targetTerms(text), " "); target != "" && !slices.Contains(found, target) {
			found = append(found, target)
		}
	}
	title := f.Title
	if title == "" || f.Named {
		title = f.Page
	}
	for heading := range strings.SplitSeq(title, " / ") {
		add(heading)
	}
	for _, s := range names {
		if s.kind != casedName {
			add(s.name)
		}
	}
	return found
}

// targetTerms returns the terms of a target: the name that it is, or its words.
func (a *Analyzer) targetTerms(target string) []string {
	var terms []string
	for _, w := range a.wordsOf(strings.Trim(target, `"`), false) {
		switch w.kind {
		case exact:
			return []string{w.term}
		case word:
			terms = append(terms, w.term)
		}
	}
	return terms
}
