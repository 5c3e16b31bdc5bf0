package activity

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/recipes"
)

// A QueryGroup is a set of web searches with a word in common.
type QueryGroup struct {
	Word     string   `json:"word"`
	Searches int      `json:"searches"`
	Queries  []string `json:"queries"` // distinct, latest first
	Setup    string   `json:"setup"`   // command that sets up a database for them
}

// groupQueries groups queries, given oldest first, by common words. It returns
// the groups, largest first, and the number of ungrouped queries. A query
// belongs to one group only: each step takes the word with the highest count
// among the remaining queries. The first word of a query counts 1.5 times,
// because people name the subject first. The ignored words, which are those of
// the database that the queries are for, form no groups.
func groupQueries(queries []string, ignored ...string) (groups []QueryGroup, alone int, err error) {
	analyzer, err := lexical.NewAnalyzer(lexical.DefaultLanguage)
	if err != nil {
		return nil, 0, err
	}

	type word struct {
		term    string
		queries []int // indexes of queries that contain it
		left    int   // of these, not in a group yet
		halves  int   // their weight in halves
	}
	halves := func(position int) int {
		if position == 0 {
			return 3
		}
		return 2
	}

	known := map[string]bool{}
	for _, text := range ignored {
		for _, w := range queryTerms(analyzer, text) {
			known[w.term] = true
		}
	}

	terms := make([][]queryTerm, len(queries))
	byTerm := map[string]*word{}
	for i, q := range queries {
		terms[i] = slices.DeleteFunc(queryTerms(analyzer, q), func(w queryTerm) bool { return known[w.term] })
		for position, a := range terms[i] {
			w := byTerm[a.term]
			if w == nil {
				w = &word{term: a.term}
				byTerm[a.term] = w
			}
			w.queries = append(w.queries, i)
			w.left++
			w.halves += halves(position)
		}
	}

	// Sorted alphabetically, so that the first one wins a tie.
	words := slices.SortedFunc(maps.Values(byTerm), func(v, w *word) int { return cmp.Compare(v.term, w.term) })
	grouped := make([]bool, len(queries))
	alone = len(queries)
	for {
		words = slices.DeleteFunc(words, func(w *word) bool { return w.left < 2 })
		if len(words) == 0 {
			break
		}
		best := slices.MaxFunc(words, func(v, w *word) int { return cmp.Compare(v.halves, w.halves) })
		g := QueryGroup{Searches: best.left}
		alone -= best.left
		seen, spellings := map[string]bool{}, map[string]int{}
		for _, i := range slices.Backward(best.queries) {
			if grouped[i] {
				continue
			}
			grouped[i] = true
			if !seen[queries[i]] {
				seen[queries[i]] = true
				g.Queries = append(g.Queries, queries[i])
			}
			for position, a := range terms[i] {
				w := byTerm[a.term]
				w.left--
				w.halves -= halves(position)
				if w == best {
					spellings[a.text]++
				}
			}
		}
		g.Word = slices.MaxFunc(slices.Sorted(maps.Keys(spellings)),
			func(s, t string) int { return cmp.Compare(spellings[s], spellings[t]) })
		g.Setup = setupCommandFor(g.Word)
		groups = append(groups, g)
	}

	slices.SortStableFunc(groups, func(a, b QueryGroup) int { return cmp.Compare(b.Searches, a.Searches) })
	return groups, alone, nil
}

// A queryTerm is a word of a query that may name its subject.
type queryTerm struct {
	text string
	term string // stem
}

// queryTerms returns the distinct words of a query.
func queryTerms(analyzer *lexical.Analyzer, query string) []queryTerm {
	var words []queryTerm
	for _, text := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+#.-_", r)
	}) {
		text = strings.Trim(strings.TrimLeft(text, "+#"), ".-_")
		if !strings.ContainsFunc(text, unicode.IsLetter) || isGeneric(text) ||
			strings.TrimLeft(text, "v.0123456789") == "" {
			continue
		}
		term := strings.Join(analyzer.Terms(text), " ")
		if strings.ContainsAny(text, "+#") {
			term = text // do not stem: c++ is not c
		}
		if term != "" && !slices.ContainsFunc(words, func(w queryTerm) bool { return w.term == term }) {
			words = append(words, queryTerm{text, term})
		}
	}
	return words
}

// isGeneric reports words that occur in searches about any subject.
func isGeneric(word string) bool {
	switch word {
	case "how", "what", "why", "when", "where", "which", "who", "can", "could", "should", "does", "do", "did", "i",
		"you", "we",
		"my", "your", "from", "vs", "versus", "using", "use", "used", "best", "good", "new", "latest", "current", "way",
		"ways",
		"get", "set", "make", "create", "add", "change", "fix", "solve", "work", "works", "working", "run", "running",
		"setup",
		"install", "installation", "configure", "configuration", "config", "option", "options", "setting", "settings",
		"error", "errors", "issue", "issues", "problem", "problems", "failed", "fails", "failure", "not", "cannot",
		"example", "examples", "tutorial", "guide", "docs", "documentation", "reference", "official", "api", "code",
		"file", "files",
		"version", "versions", "release", "releases", "changelog", "update", "upgrade", "migration", "support",
		"supported",
		"practice", "practices", "difference", "between", "default", "github", "stackoverflow", "reddit":
		return true
	}
	return false
}

// setupCommandFor returns the command that sets up the documentation of word:
// its recipe, or a keyword and a source.
func setupCommandFor(word string) string {
	if r, err := recipes.Find(word); err == nil {
		return "docsearch setup " + r.Name
	}
	return "docsearch setup " + humanize.Argument(word) + sourceArgument
}

// sourceArgument is the end of a command whose source the user must add.
const sourceArgument = " SOURCE"

// NeedsSource reports whether the command of a group needs a source.
func (s *Summary) NeedsSource() bool {
	return slices.ContainsFunc(s.Unmatched, func(g QueryGroup) bool {
		return strings.HasSuffix(g.Setup, sourceArgument) && s.KeywordFor(g.Word) == nil
	})
}
