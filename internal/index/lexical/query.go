package lexical

import (
	"slices"
	"strings"
)

// A Query is a query to one index.
//
// Its text may contain operators: "exact phrase", -excluded, title:word, path:folder, and
// combinations such as -title:"two words". Because people also quote for emphasis, a
// phrase among other words is preferred, not required, and a phrase that no passage
// contains is searched as plain words. The other operators are strict. An option, as in
// tar -x, is not an exclusion if it is one letter or if the index contains it.
type Query struct {
	Text     string
	Keywords []string // exact names and synonyms from the caller
	// Names are the names of the database. They are removed from the text unless nothing
	// else is left, because every passage is about them.
	Names   []string
	Named   bool     // the database was named outside of the text
	Version string   // of the documented software; empty if unknown
	Used    string   // version of the software that the caller uses; empty if unknown
	Keys    []string // for SearchRare, see Fields.Keys
	Limit   int      // maximum number of hits
	// PerDocument is the maximum number of hits per document, unless the database has few
	// documents; 0 is the constant PerDocument.
	PerDocument int
	Accept      func(passage uint32) bool // nil: all
}

// A clause is an operator with its operand, or a word without operator.
type clause struct {
	text   string
	field  string // "title", "path" or ""
	not    bool
	quoted bool
	// written is the clause with its operator.
	written string
}

func (c clause) isOperator() bool { return c.field != "" || c.quoted || c.not }

// parse splits a query's text into clauses. isOption reports whether the index contains a
// name such as -x.
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
		case n > 0 && c.not && !c.quoted && c.field == "" &&
			(len(clauses) == 0 || !isPlainWord(c.text) || isOption(text[:end])):
			n = 0
		case n > 0 && c.text == "":
			n = 0
		}
		if n == 0 {
			c, n = clause{text: text[:end]}, end
		}
		c.written = text[:n]
		clauses = append(clauses, c)
		text = text[n:]
	}
	return clauses
}

const spaces = " \t\r\n\f\v"

// straightQuotes replaces typographic double quotes by ".
func straightQuotes(text string) string {
	if !strings.ContainsAny(text, "“”„«»") {
		return text
	}
	return strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`).Replace(text)
}

// operator parses the operator clause at the start of text. It returns the clause's
// length, or 0 if there is none.
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

// isPlainWord reports whether -word can be an exclusion: it has several lower-case
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

// A queryTerm is a term of a query with its weight.
type queryTerm struct {
	term       string
	weight     float64
	fromQuery  bool // from the text or keywords, not a synonym
	composite  bool // other terms of the query are its parts
	technology bool // the name of some software
	symbol     bool // matches passages that define the name; weight is the bonus
	cased      bool // matches those that define it in this case; weight is added to the bonus
	key        bool // matches passages that have the key; symbol is set, too
	asked      bool // matches passages for which people ask by the term, see askedTerm
	// misspelled is the query's word that the term corrects.
	misspelled string
	places     []int // positions in the text, except of composite terms
}

// A phraseConstraint is a sequence of words that passages must or must not contain.
type phraseConstraint struct {
	words  []phraseWord
	fields uint // mask of the fields searched
	not    bool
	quoted bool
	name   bool // the words are the components of a compound in the text
}

type phraseWord struct {
	term   string
	offset uint32 // distance from the first word
}

// A plan is an analyzed query.
type plan struct {
	text         string // see Signals.Text
	terms        []queryTerm
	expansions   []expansion // synonyms of the terms
	hasKeywords  bool        // the query has keywords
	named        bool        // the query names the database
	identifier   bool        // the query is a single identifier
	intent       intent
	unknownWords int // words in neither the index nor the background corpus
	constraints  []phraseConstraint
	exclusions   []string           // the operators that exclude passages, as written
	phrases      []phraseConstraint // preferred, not required
	isMessage    bool               // the text is an error message
}

const (
	allFields     = 1<<fieldCount - 1
	titleFields   = 1<<fieldTitle | 1<<fieldPath | 1<<fieldPage
	addressFields = 1 << fieldAddress

	// Bonuses of a passage that defines the name that is the whole query, or a word or
	// keyword of it.
	wholeBonus = .5
	// pageBonus is the bonus of the page about the name that is the whole query. Such a
	// name may be written as up to maxNameWords words.
	pageBonus    = .6
	maxNameWords = 6
	wordBonus    = .15
	// caseShare is the share of the bonus that is added for a definition in the case of the
	// query: reprlib.Repr, not reprlib.repr. It orders definitions only: with it, the bonus
	// of a whole name stays below pageBonus, which confidence depends on.
	caseShare = .16
	// signFactor is the factor of the bonus for names with a leading sign, which only they
	// have: the words of \timing and %Y have other meanings.
	signFactor = 3
	// suffixShare is the share of the bonus for defining a longer name that ends with the
	// query's.
	suffixShare = .8

	// MaxQuery is the maximum length of a query in bytes. Whoever accepts queries refuses
	// longer ones, because the time of all analysis grows with it.
	MaxQuery = 16 << 10

	// Limits that no real query exceeds. The rest is ignored.
	maxText     = 8 << 10
	maxKeyword  = 256
	maxKeywords = 64
)

// limited truncates the query to the maximum lengths.
func (q Query) limited() Query {
	q.Text = limitedText(q.Text)
	q.Keywords, q.Names = limited(q.Keywords), limited(q.Names)
	return q
}

func limitedText(text string) string { return text[:min(len(text), maxText)] }

func limited(words []string) []string {
	words = slices.Clone(words[:min(len(words), maxKeywords)])
	for i, w := range words {
		words[i] = w[:min(len(w), maxKeyword)]
	}
	return words
}

// plan analyzes a query. isOption is passed to parse.
func (a *Analyzer) plan(query *Query, isOption func(string) bool) plan {
	var p plan
	short := query.limited()
	q := &short
	var quoted []phraseConstraint
	unquoted := "" // the text outside of quotes
	clauses := parse(q.Text, isOption)
	for _, c := range clauses {
		if !c.isOperator() {
			unquoted += " " + c.text
			continue
		}
		d := phraseConstraint{words: a.phraseWords(c.text), fields: allFields, not: c.not,
			quoted: c.quoted && !c.not && c.field == ""}
		switch c.field {
		case "title":
			d.fields = titleFields
		case "path":
			d.fields = addressFields
			d.words = a.phraseWords(trimAddress(c.text))
		}
		if c.not && len(d.words) > 0 {
			p.exclusions = append(p.exclusions, c.written)
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
	if len(quoted) > 0 && (len(q.Keywords) > 0 ||
		slices.ContainsFunc(a.contentWords(unquoted, q.Names), contentWord.isSearched)) {
		p.phrases = quoted
	} else {
		p.constraints = append(p.constraints, quoted...)
	}
	if fields := searchedFields(text, words); len(fields) == 1 {
		p.identifier = isCodeName(fields[0])
	}
	p.hasKeywords, p.isMessage = len(q.Keywords) > 0, isMessage(q.Text)
	p.phrases = a.addCompounds(p.phrases, text, words, true)
	for _, keyword := range q.Keywords {
		p.phrases = a.addCompounds(p.phrases, keyword, a.wordsOf(keyword, false), false)
	}
	return p
}

// addCompounds adds a phrase for each compound among words, except for names of the
// database.
func (a *Analyzer) addCompounds(phrases []phraseConstraint, text string, words []contentWord,
	fromText bool) []phraseConstraint {
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

// phraseWords returns the words of text with their offsets.
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

// queryTerms returns the terms of a query and the synonyms of its text. text is free of
// operators; words are its content words.
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
			terms[i].places = append(terms[i].places, t.places...)
		}
	}
	addOwn := func(w contentWord, places ...int) {
		add(queryTerm{term: w.term, weight: 1, fromQuery: true, composite: w.composite, technology: w.technology,
			places: places})
	}
	for _, w := range words {
		switch {
		case !w.isSearched():
		case w.composite:
			addOwn(w)
		default:
			addOwn(w, w.position)
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

// symbolTerms returns the terms of names that a passage may define: the whole text if it
// is one name, its words that are written as names, and all keywords. Terms with case come
// last.
func symbolTerms(q *Query, text string, words []contentWord) []queryTerm {
	var terms, cased []queryTerm
	add := func(s string, kind nameKind, bonus float64) {
		if term := (symbol{s, kind}).term(); term != "" && len(terms) < maxKeywords {
			terms = append(terms, queryTerm{term: term, weight: bonus, symbol: true})
		}
	}
	addName := func(s string, bonus float64) {
		if s = trimName(s); isName(s) {
			if hasLeadingSign(s) {
				bonus *= signFactor
			}
			add(s, wholeName, bonus)
			add(s, nameSuffix, suffixShare*bonus)
			if term := (symbol{s, casedName}).term(); term != "" && isTypeName(s) {
				cased = append(cased, queryTerm{term: term, weight: caseShare * bonus, symbol: true, cased: true})
			}
		}
	}
	fields := searchedFields(text, words)
	for _, s := range fields {
		if len(fields) > 1 && isWrittenAsName(trimName(s)) {
			addName(s, wordBonus)
		}
	}
	if len(fields) == 1 {
		addName(fields[0], wholeBonus)
	}
	if whole := trimName(strings.Join(fields, "_")); len(fields) <= maxNameWords && isName(whole) {
		if len(fields) > 1 {
			add(whole, wholeName, wholeBonus)
		}
		add(whole, pageName, pageBonus)
	}
	for _, keyword := range q.Keywords {
		addName(keyword, wordBonus)
	}
	return append(terms, cased...)
}

// searchedFields returns the parts of a text between white space that have searched words.
func searchedFields(text string, words []contentWord) (fields []string) {
	end := 0
	for _, w := range words {
		if !w.isSearched() || w.start < end {
			continue
		}
		start := strings.LastIndexAny(text[:w.start], spaces) + 1
		if end = len(text); strings.ContainsAny(text[w.start:], spaces) {
			end = w.start + strings.IndexAny(text[w.start:], spaces)
		}
		fields = append(fields, text[start:end])
	}
	return fields
}

// trimName removes punctuation around a name in running text, and its arguments.
func trimName(s string) string {
	s = strings.Trim(s, "`'\"?!,;*[]{}<>")
	if name, _, ok := strings.Cut(s, "("); ok && name != "" {
		s = name
	}
	s = strings.TrimRight(strings.Trim(s, "()"), ".:")
	if strings.HasPrefix(s, "\\") {
		s = strings.TrimRight(s, "+") // psql's \d+ is \d with details
	}
	return s
}

// isWrittenAsName reports whether s starts with a sign or is an identifier.
func isWrittenAsName(s string) bool {
	return hasLeadingSign(s) || strings.HasPrefix(s, "--") || IsIdentifier(s)
}

// isCodeName reports whether s, the only word of a query, is the name of an option or an
// identifier, or is quoted like one: -o, base-index, max_size, 'number'.
func isCodeName(s string) bool {
	name := trimName(s)
	return isWrittenAsName(name) || strings.Contains(strings.TrimRight(name, "-"), "-") ||
		strings.Contains(s, "'"+name+"'") || strings.Contains(s, "`"+name+"`")
}

// IsIdentifier reports whether a word has an underscore, period or colon inside, or an inner
// capital.
func IsIdentifier(s string) bool {
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c == '_', c == '.', c == ':', isUpper(c) && isLower(s[i-1]):
			return true
		}
	}
	return false
}
