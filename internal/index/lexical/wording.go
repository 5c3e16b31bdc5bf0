package lexical

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/sitefilter"
)

// Wording returns a query's text without framing words: words about the source, form or
// date of the answer and not its subject, as "site:docs.python.org", "2026", "official
// documentation", "error fix solution". Agents add such words to most queries, and most
// pages contain them.
//
// A framing word stays if it is a subject of this index: far more frequent than in the
// background corpus. A single "error" or "example" stays, too, because it may be the
// subject.
func (x *Index) Wording(q Query) (string, error) {
	in, err := x.interpret(&q)
	return in.text, err
}

// An intent is the interpretation of a query's words other than its subject.
type intent struct {
	text    string // without framing words
	version versionRelation
	release string // term of the release notes that it asks for
	// Numbers of words that ask for news and opinions. A word that is frequent in the
	// index counts less.
	news, opinion float64
	// otherSoftware counts names of other software; otherSoftwareFirst is the highest
	// count of one before the documented software's name.
	otherSoftware, otherSoftwareFirst float64
	demands                           Demands
}

// interpret analyzes the text of a query.
func (x *Index) interpret(q *Query) (intent, error) {
	text := withoutNumber(straightQuotes(sitefilter.Remove(limitedText(q.Text))))
	if x.analyzer.stem == nil {
		return intent{text: text}, nil
	}
	words := framedWords(text)
	own := ownNumbers(q.Version)
	var in intent
	if err := x.addOtherSoftware(words, q.Names, &in); err != nil {
		return intent{}, err
	}
	if err := x.addTopic(words, q.Names, &in.demands); err != nil {
		return intent{}, err
	}
	in.version, in.demands.Version = markVersions(words, q.Names, own)
	if in.version == noVersion {
		in.version = relationToUsed(q.Used, own)
	}
	if err := x.countWebWords(words, &in); err != nil {
		return intent{}, err
	}
	if err := x.findRelease(words, q, &in); err != nil {
		return intent{}, err
	}
	var err error
	in.text, err = x.withoutFraming(text, words, q.Names)
	return in, err
}

// countWebWords adds the words that ask for news or opinions to in.
func (x *Index) countWebWords(words []framedWord, in *intent) error {
	before := ""
	for _, w := range words {
		kind := webWordOf(before, w.folded)
		before = w.folded
		if kind == documented || w.framing != notFraming {
			continue
		}
		share, err := x.otherness(w.folded)
		if err != nil {
			return err
		}
		if kind == newsWord {
			in.news += share
		} else {
			in.opinion += share
		}
	}
	return nil
}

// withoutFraming returns the text without its framing words, or the whole text if it has
// no others.
func (x *Index) withoutFraming(text string, words []framedWord, names []string) (string, error) {
	content := 0
	for i := range words {
		w := &words[i]
		if w.quoted {
			w.framing = notFraming
		}
		if w.framing != notFraming && !isDigit(w.folded[len(w.folded)-1]) {
			subject, err := x.isSubject(w.folded)
			if err != nil {
				return "", err
			}
			if subject {
				w.framing = notFraming
			}
		}
		if w.framing == notFraming && !x.analyzer.isStopWord(w.folded) && !x.analyzer.isQuestionWord(w.folded) &&
			!isAnyName(w.folded, names) {
			content++
		}
	}
	if content == 0 {
		return text, nil
	}
	var b strings.Builder
	end := 0
	for i, w := range words {
		if w.framing == notFraming || w.framing == weakFraming && !isNextToFraming(words, i) {
			continue
		}
		b.WriteString(text[end:w.start])
		end = w.end
	}
	b.WriteString(text[end:])
	return b.String(), nil
}

// otherness returns 1 for a word that is not more frequent in the index than in the
// background corpus, down to 0 for a subject of the index.
func (x *Index) otherness(word string) (float64, error) {
	n, err := x.Frequency(word)
	term := x.analyzer.stemOf(word)
	if err != nil || term == "" {
		return 1, err
	}
	return 1 - max(0, min(1, evidence(backgroundShare(term), n, x.passageCount)/subjectEvidence)), nil
}

// withoutNumber removes the markup and number of a heading that was copied from a
// document: "Joining tables" for "### 4.2. Joining tables¶".
func withoutNumber(text string) string {
	rest := strings.TrimLeft(strings.TrimLeft(text, " \t"), "#=")
	if marked := rest != "" && rest[0] != ' ' && rest[0] != '\t'; marked || !strings.ContainsFunc(rest, isWordRune) {
		rest = text // the signs are an operator or part of one
	}
	rest = strings.TrimLeft(rest, " \t")
	digits := strings.TrimLeft(rest, "0123456789.")
	number := rest[:len(rest)-len(digits)]
	isNumber := strings.Contains(number, ".") && number[0] != '.' && (rest != text || strings.HasSuffix(number, "."))
	if isNumber && (strings.HasPrefix(digits, " ") || strings.HasPrefix(digits, "\u00a0")) {
		rest = digits
	}
	return strings.TrimRight(rest, "¶ ")
}

func isWordRune(r rune) bool { return classify(r) != classOther }

// framing is the likelihood that a word is framing.
type framing uint8

const (
	notFraming framing = iota
	// weakFraming words are framing only next to another framing word.
	weakFraming
	strongFraming
)

// A framedWord is a whitespace-separated word of a query's text.
type framedWord struct {
	start, end int
	folded     string // without surrounding punctuation
	quoted     bool   // content, whatever its framing
	framing    framing
}

func framedWords(text string) []framedWord {
	var words []framedWord
	quoted := 0 // end of the last quoted phrase
	for at := 0; at < len(text); {
		n := strings.IndexAny(text[at:], spaces)
		switch {
		case n == 0:
			at++
			continue
		case n < 0:
			n = len(text) - at
		}
		folded := string(fold(nil, strings.Trim(text[at:at+n], "\"'`.,;:!?()[]{}<>")))
		if c, length := operator(text[at:]); at >= quoted && c.quoted {
			quoted = at + length
		}
		words = append(words, framedWord{start: at, end: at + n, folded: folded, quoted: at < quoted})
		at += n
	}
	for i := range words {
		w := &words[i]
		w.framing = framingEnglish(w.folded)
		if isYear(w.folded) {
			w.framing = strongFraming
		}
		if i > 0 {
			switch before := &words[i-1]; before.folded + " " + w.folded {
			case "best practice", "best practices", "good practice", "good practices", "stack overflow", "github issue",
				"github issues",
				"getting started", "how to", "step by", "cheat sheet", "deep dive", "hands on", "in advance",
				"find out", "thank you":
				before.framing, w.framing = strongFraming, strongFraming
			}
		}
	}
	return words
}

// isNextToFraming reports whether a neighbor of the i-th word is framing.
func isNextToFraming(words []framedWord, i int) bool {
	return i > 0 && words[i-1].framing != notFraming || i+1 < len(words) && words[i+1].framing != notFraming
}

// isYear reports whether w is a year from 1990 to 2099.
func isYear(w string) bool {
	return len(w) == 4 && (w[:2] == "19" && w[2] == '9' || w[:2] == "20") && isDigit(w[2]) && isDigit(w[3])
}

// isAnyName reports whether a word is one of the names.
func isAnyName(w string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(w, name) })
}

// subjectEvidence is the minimum evidence (see evidence) of a subject of the index.
const subjectEvidence = 1.5

// isSubject reports whether a word is a subject of the index.
func (x *Index) isSubject(word string) (bool, error) {
	n, err := x.Frequency(word)
	if err != nil || n == 0 {
		return false, err
	}
	term := x.analyzer.stemOf(word)
	return term != "" && evidence(backgroundShare(term), n, x.passageCount) > subjectEvidence, nil
}

// framingEnglish returns the framing of a folded English word.
func framingEnglish(w string) framing {
	switch w {
	case "documentation", "docs", "official", "officially", "tutorial", "tutorials", "guide", "guides", "howto",
		"walkthrough", "cheatsheet", "explained",
		"stackoverflow", "stackexchange", "superuser", "serverfault", "reddit", "quora", "w3schools", "geeksforgeeks",
		"freecodecamp", "realpython",
		"thanks", "thank", "help", "advance":
		return strongFraming
	case "error", "errors", "fix", "fixed", "fixes", "fixing", "solution", "solutions", "solve", "solved", "resolve",
		"resolved", "troubleshoot", "troubleshooting",
		"example", "examples", "sample", "samples", "snippet", "snippets", "code", "issue", "issues", "problem",
		"problems", "question", "answer", "answers",
		"doc", "manual", "reference", "usage", "syntax", "meaning", "explanation", "overview", "tips", "tricks",
		"github", "blog", "article", "latest", "current":
		return weakFraming
	}
	return notFraming
}
