package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/lexical"
)

// A queryGroup is web searches that have a word in common.
type queryGroup struct {
	Word     string   `json:"word"`
	Searches int      `json:"searches"`
	Queries  []string `json:"queries"` // different ones, the latest first
	Setup    string   `json:"setup"`   // the command that would have them answered
}

// groupQueries puts queries, the oldest first, into groups, the biggest first,
// and returns how many are alone. A query is in one group only: the word that
// most of those that are left have makes the next one. Where a query begins
// counts half as much again, since people name first what they ask about.
func groupQueries(all []string) (groups []queryGroup, alone int, err error) {
	analyzer, err := lexical.NewAnalyzer(lexical.DefaultLanguage)
	if err != nil {
		return nil, 0, err
	}
	type asked struct {
		text  string
		words []askedWord
	}
	left := make([]asked, len(all))
	for i, q := range all {
		left[i] = asked{q, askedWords(analyzer, q)}
	}
	for {
		halves := map[string]int{}
		counts := map[string]int{}
		for _, q := range left {
			for i, w := range q.words {
				counts[w.term]++
				halves[w.term] += 2
				if i == 0 {
					halves[w.term]++
				}
			}
		}
		best := ""
		for term, n := range counts {
			if n > 1 && (best == "" || cmp.Or(cmp.Compare(halves[term], halves[best]), cmp.Compare(best, term)) > 0) {
				best = term
			}
		}
		if best == "" {
			break
		}
		g := queryGroup{Searches: counts[best]}
		var queries []string
		spellings := map[string]int{}
		left = slices.DeleteFunc(left, func(q asked) bool {
			i := slices.IndexFunc(q.words, func(w askedWord) bool { return w.term == best })
			if i < 0 {
				return false
			}
			spellings[q.words[i].text]++
			queries = append(queries, q.text)
			return true
		})
		for _, q := range slices.Backward(queries) {
			if !slices.Contains(g.Queries, q) {
				g.Queries = append(g.Queries, q)
			}
		}
		for text, n := range spellings {
			if g.Word == "" || cmp.Or(cmp.Compare(n, spellings[g.Word]), cmp.Compare(g.Word, text)) > 0 {
				g.Word = text
			}
		}
		g.Setup = "docsearch setup " + quoteArgument(g.Word) + " SOURCE"
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b queryGroup) int { return cmp.Compare(b.Searches, a.Searches) })
	return groups, len(left), nil
}

// An askedWord is a word of a query that may say what it is about.
type askedWord struct {
	text string
	term string // the same for all forms of the word
}

// askedWords are the words of a query, each once.
func askedWords(analyzer *lexical.Analyzer, query string) []askedWord {
	var words []askedWord
	for _, text := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+#.-_", r)
	}) {
		text = strings.Trim(strings.TrimLeft(text, "+#"), ".-_")
		if !strings.ContainsFunc(text, unicode.IsLetter) || isGeneric(text) || strings.TrimLeft(text, "v.0123456789") == "" {
			continue
		}
		term := strings.Join(analyzer.Terms(text), " ")
		if strings.ContainsAny(text, "+#") {
			term = text // c++ is not c
		}
		if term != "" && !slices.ContainsFunc(words, func(w askedWord) bool { return w.term == term }) {
			words = append(words, askedWord{text, term})
		}
	}
	return words
}

// isGeneric tells of the words that stand in searches about anything.
func isGeneric(word string) bool {
	switch word {
	case "how", "what", "why", "when", "where", "which", "who", "can", "could", "should", "does", "do", "did", "i", "you", "we",
		"my", "your", "from", "vs", "versus", "using", "use", "used", "best", "good", "new", "latest", "current", "way", "ways",
		"get", "set", "make", "create", "add", "change", "fix", "solve", "work", "works", "working", "run", "running", "setup",
		"install", "installation", "configure", "configuration", "config", "option", "options", "setting", "settings",
		"error", "errors", "issue", "issues", "problem", "problems", "failed", "fails", "failure", "not", "cannot",
		"example", "examples", "tutorial", "guide", "docs", "documentation", "reference", "official", "api", "code", "file", "files",
		"version", "versions", "release", "releases", "changelog", "update", "upgrade", "migration", "support", "supported",
		"practice", "practices", "difference", "between", "default", "github", "stackoverflow", "reddit":
		return true
	}
	return false
}
