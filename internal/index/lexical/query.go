package lexical

import (
	"slices"
	"strings"
)

// A Query is what is asked of an index.
//
// Its text may hold operators: "exact phrase", -without, title:word,
// path:folder, and those combined, as -title:"two words". People quote for
// emphasis, too: among other words a phrase is preferred, not demanded, and one
// that no passage has is taken as plain words. The other operators hold
// whatever they leave. An option, as in tar -x, is no exclusion where it is one
// letter, or where the index knows it.
type Query struct {
	Text     string
	Keywords []string // names and synonyms that the asker knows
	// Names are what the database itself is called. They are dropped from the
	// text, since every passage is about them, unless nothing else is left.
	Names   []string
	Named   bool                      // the asker named the database otherwise than in the text
	Version string                    // of what the database documents; empty if unknown
	Keys    []string                  // what SearchRare finds passages by whatever their words, see Fields
	Limit   int                       // hits wanted
	Accept  func(passage uint32) bool // nil: all
}

// A clause is a piece of a query's text between operators.
type clause struct {
	text   string
	field  string // "title", "path" or ""
	not    bool
	quoted bool
}

// parse cuts a query's text into clauses. isOption tells whether the index
// knows a name such as -x.
func parse(text string, isOption func(string) bool) []clause {
	var clauses []clause
	text = straightQuotes(text)
	for text = strings.TrimLeft(text, spaces); text != ""; text = strings.TrimLeft(text, spaces) {
		c, n := operator(text)
		end := strings.IndexAny(text, spaces)
		if end < 0 {
			end = len(text)
		}
		switch {
		case n > 0 && c.not && !c.quoted && c.field == "" && (len(clauses) == 0 || !isPlainWord(c.text) || isOption(text[:end])):
			n = 0
		case n > 0 && c.text == "":
			n = 0
		}
		if n == 0 {
			c, n = clause{text: text[:end]}, end
		}
		clauses = append(clauses, c)
		text = text[n:]
	}
	return clauses
}

const spaces = " \t\r\n\f\v"

// straightQuotes returns a text with " for the other double quotes.
func straightQuotes(text string) string {
	if !strings.ContainsAny(text, "“”„«»") {
		return text
	}
	return strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`).Replace(text)
}

// operator reads the clause that text begins with, if it has an operator, and
// returns how long it is, or 0.
func operator(text string) (clause, int) {
	var c clause
	rest := text
	if strings.HasPrefix(rest, "-") {
		c.not, rest = true, rest[1:]
	}
	for _, field := range [...]string{"title", "path"} {
		if len(rest) > len(field)+1 && strings.EqualFold(rest[:len(field)], field) && rest[len(field)] == ':' &&
			strings.IndexByte(spaces+":", rest[len(field)+1]) < 0 {
			c.field, rest = field, rest[len(field)+1:]
			break
		}
	}
	if phrase, _, ok := strings.Cut(strings.TrimPrefix(rest, `"`), `"`); ok && rest[0] == '"' {
		c.text, c.quoted = phrase, true
		return c, len(text) - len(rest) + len(phrase) + 2
	}
	if !c.not && c.field == "" {
		return c, 0
	}
	end := strings.IndexAny(rest, spaces)
	if end < 0 {
		end = len(rest)
	}
	c.text = rest[:end]
	return c, len(text) - len(rest) + end
}

// isPlainWord tells of a word that can be meant by -word: several small
// letters.
func isPlainWord(s string) bool {
	if len(s) < 3 {
		return false
	}
	for i := range len(s) {
		if s[i] < 0x80 && !isLower(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return true
}

// A queryTerm is a term that passages are scored by.
type queryTerm struct {
	term       string
	weight     float64
	fromQuery  bool // it is in the query: false for synonyms
	composite  bool // it is made of other terms
	technology bool // it names a technology
	symbol     bool // it is a name that passages define; weight is the bonus
	key        bool // it is a key of passages, and such a name, too
	// misspelled is the word of the query that the term corrects.
	misspelled string
}

// A demand is what passages must have, or must not: words in a row.
type phraseConstraint struct {
	words  []phraseWord
	fields uint // bits of the fields where they may be
	not    bool
	quoted bool
	name   bool // they are the components of a name that the text has
}

type phraseWord struct {
	term   string
	offset uint32 // from the first word
}

// A plan is a query made ready.
type plan struct {
	text         string // see Signals
	terms        []queryTerm
	expansions   []expansion // synonyms of the terms
	hasKeywords  bool        // it has keywords
	named        bool        // the text has a name of the database
	intent       intent
	unknownWords int // words that neither the index nor the background corpus has
	constraints  []phraseConstraint
	phrases      []phraseConstraint // that are preferred
}

const (
	allFields     = 1<<fieldCount - 1
	titleFields   = 1<<fieldTitle | 1<<fieldPath | 1<<fieldPage
	addressFields = 1 << fieldAddress

	// What a passage gains that defines the name which is all of the query, or
	// one of its words or keywords.
	wholeBonus = .5
	// What the page gains that is about the name which is all of the query. Such a
	// name may be written as maxNameWords words.
	pageBonus    = .6
	maxNameWords = 4
	wordBonus    = .15
	// And what of that if it defines a name that only ends so.
	suffixShare = .8

	// What is read of a query: more than anybody means.
	maxText     = 8 << 10
	maxKeyword  = 256
	maxKeywords = 64
)

// limited is the query without what is too long of it.
func (q Query) limited() Query {
	q.Text = q.Text[:min(len(q.Text), maxText)]
	q.Keywords, q.Names = limited(q.Keywords), limited(q.Names)
	return q
}

func limited(words []string) []string {
	words = slices.Clone(words[:min(len(words), maxKeywords)])
	for i, w := range words {
		words[i] = w[:min(len(w), maxKeyword)]
	}
	return words
}

// plan makes a query ready; isOption is parse's.
func (a *Analyzer) plan(query *Query, isOption func(string) bool) plan {
	var p plan
	short := query.limited()
	q := &short
	var quoted []phraseConstraint
	unquoted := "" // what is quoted
	clauses := parse(q.Text, isOption)
	for _, c := range clauses {
		if c.field == "" && !c.quoted && !c.not {
			unquoted += " " + c.text
			continue
		}
		d := phraseConstraint{words: a.phraseWords(c.text), fields: allFields, not: c.not, quoted: c.quoted && !c.not && c.field == ""}
		switch c.field {
		case "title":
			d.fields = titleFields
		case "path":
			d.fields = addressFields
			d.words = a.phraseWords(trimAddress(c.text))
		}
		switch {
		case len(d.words) == 0:
		case d.quoted:
			quoted = append(quoted, d)
		default:
			p.constraints = append(p.constraints, d)
		}
	}
	text := scoredText(clauses)
	words := a.contentWords(text, q.Names)
	p.terms, p.expansions = a.queryTerms(q, text, words)
	if operators, alone := a.operatorTerms(text, words); alone {
		p.terms = operators
	} else {
		p.terms = append(p.terms, operators...)
	}
	p.named = slices.ContainsFunc(words, func(w contentWord) bool { return w.isName })
	if len(quoted) > 0 && (len(q.Keywords) > 0 || slices.ContainsFunc(a.contentWords(unquoted, q.Names), contentWord.isSearched)) {
		p.phrases = quoted
	} else {
		p.constraints = append(p.constraints, quoted...)
	}
	p.hasKeywords = len(q.Keywords) > 0
	p.phrases = a.addCompounds(p.phrases, text, words, true)
	for _, keyword := range q.Keywords {
		p.phrases = a.addCompounds(p.phrases, keyword, a.wordsOf(keyword, false), false)
	}
	return p
}

// addCompounds adds the compounds among words, but for the database's own names.
func (a *Analyzer) addCompounds(phrases []phraseConstraint, text string, words []contentWord, fromText bool) []phraseConstraint {
	for _, w := range words {
		if w.kind != compound || w.isName {
			continue
		}
		if d := (phraseConstraint{words: a.phraseWords(text[w.start:w.end]), fields: allFields, name: fromText}); len(d.words) > 1 {
			phrases = append(phrases, d)
		}
	}
	return phrases
}

// phraseWords is the words of text with their places.
func (a *Analyzer) phraseWords(text string) []phraseWord {
	var words []phraseWord
	first := -1
	scan(text, 0, func(t token) {
		if t.kind != word && t.kind != gram {
			return
		}
		term := a.term(t.kind, text[t.start:t.end])
		if term == "" {
			return
		}
		if first < 0 {
			first = t.position
		}
		words = append(words, phraseWord{term, uint32(t.position - first)})
	})
	return words
}

// queryTerms returns the terms of a query, and the synonyms of the terms in its
// text. The text is free of operators and has these words.
func (a *Analyzer) queryTerms(q *Query, text string, words []contentWord) (terms []queryTerm, added []expansion) {
	index := make(map[string]int)
	add := func(t queryTerm) {
		i, ok := index[t.term]
		switch {
		case !ok:
			index[t.term] = len(terms)
			terms = append(terms, t)
		case t.symbol:
			terms[i].weight = max(terms[i].weight, t.weight)
		case t.fromQuery:
			terms[i].weight += t.weight
		}
	}
	addOwn := func(w contentWord) {
		add(queryTerm{term: w.term, weight: 1, fromQuery: true, composite: w.composite, technology: w.technology})
	}
	for _, w := range words {
		if w.isSearched() {
			addOwn(w)
		}
	}
	if a.thesauri {
		added = a.expand(text, words, q.Names, terms)
	}
	for _, keyword := range q.Keywords {
		for _, w := range a.wordsOf(keyword, false) {
			if w.isSearched() {
				addOwn(w)
			}
		}
	}
	for _, s := range symbolTerms(q, text, words) {
		add(s)
	}
	return terms, added
}

// symbolTerms are the names in a query that a passage may define: all of the
// text, if it is one name; a word of it, if it is written as only names are;
// every keyword.
func symbolTerms(q *Query, text string, words []contentWord) []queryTerm {
	var terms []queryTerm
	add := func(s string, kind nameKind, bonus float64) {
		if term := (symbol{s, kind}).term(); term != "" && len(terms) < maxKeywords {
			terms = append(terms, queryTerm{term: term, weight: bonus, symbol: true})
		}
	}
	addName := func(s string, bonus float64) {
		if s = trimName(s); isName(s) {
			add(s, wholeName, bonus)
			add(s, nameSuffix, suffixShare*bonus)
		}
	}
	var content []string // what of the text, between blanks, has words that count
	end := 0
	for _, w := range words {
		if !w.isSearched() || w.start < end {
			continue
		}
		start := strings.LastIndexAny(text[:w.start], spaces) + 1
		if end = len(text); strings.ContainsAny(text[w.start:], spaces) {
			end = w.start + strings.IndexAny(text[w.start:], spaces)
		}
		content = append(content, text[start:end])
	}
	for _, s := range content {
		if len(content) > 1 && isWrittenAsName(trimName(s)) {
			addName(s, wordBonus)
		}
	}
	if len(content) == 1 {
		addName(content[0], wholeBonus)
	}
	if whole := trimName(strings.Join(content, "_")); len(content) <= maxNameWords && isName(whole) {
		if len(content) > 1 {
			add(whole, wholeName, wholeBonus)
		}
		add(whole, pageName, pageBonus)
	}
	for _, keyword := range q.Keywords {
		addName(keyword, wordBonus)
	}
	return terms
}

// trimName takes off what surrounds a name in running text.
func trimName(s string) string {
	s = strings.Trim(s, "`'\"?!,;*[]{}<>")
	if name, _, ok := strings.Cut(s, "("); ok && name != "" {
		s = name
	}
	return strings.TrimRight(strings.Trim(s, "()"), ".:")
}

// isWrittenAsName tells of what has a sign or capitals within.
func isWrittenAsName(s string) bool {
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c == '_', c == '.', c == ':', isUpper(c) && isLower(s[i-1]):
			return true
		}
	}
	return false
}
