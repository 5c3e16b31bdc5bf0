package main

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/eval"
)

// A variant is a deterministic rephrasing of a query.
type variant struct {
	name string
	form func(q *eval.Query, m *manual) string
}

// allVariants are the variants of each judged query: first the most frequent additions
// by agents, then other ways to phrase a query.
var allVariants = []variant{
	{"plain", func(q *eval.Query, _ *manual) string { return q.Text }},

	{"site: prefix", func(q *eval.Query, m *manual) string { return "site:" + m.site() + " " + q.Text }},
	{"name, version, keywords, documentation 2026", func(q *eval.Query, m *manual) string {
		return strings.Join(slices.Concat([]string{strings.ToLower(m.title), m.version}, m.contentWords(q.Text), []string{"documentation 2026"}), " ")
	}},
	{"tutorial guide", withSuffix("tutorial guide")},
	{"one word misspelled", func(q *eval.Query, m *manual) string { return misspelled(q, m) }},
	{"error fix solution", withSuffix("error fix solution")},
	{"name and version first", func(q *eval.Query, m *manual) string { return m.title + " " + m.version + " " + q.Text }},
	{"official documentation", withSuffix("official documentation")},
	{"best practices 2026", withSuffix("best practices 2026")},
	{"2026", withSuffix("2026")},

	{"how can I", func(q *eval.Query, _ *manual) string { return "how can I " + lowerFirst(withoutQuestion(q.Text)) }},
	{"last words first", func(q *eval.Query, _ *manual) string { return lastWordsFirst(q.Text) }},
	{"name and version last", func(q *eval.Query, m *manual) string {
		return withoutMark(q.Text) + " " + strings.ToLower(m.title) + " " + m.version
	}},
	{"pasted page title", func(q *eval.Query, m *manual) string {
		return withoutMark(q.Text) + " — " + m.title + " " + m.version + " documentation"
	}},
	{"pasted heading", func(q *eval.Query, _ *manual) string { return "### 4.2. " + withoutMark(q.Text) + "¶" }},
	{"trailing punctuation", func(q *eval.Query, _ *manual) string { return withoutMark(q.Text) + " ...?!" }},
	{"stackoverflow", withSuffix("stackoverflow")},
	{"example code", withSuffix("example code")},
	{"one word in quotes", func(q *eval.Query, m *manual) string { return quoteLongestWord(q.Text, m) }},
	{"upper case", func(q *eval.Query, _ *manual) string { return strings.ToUpper(q.Text) }},
	{"please help", func(q *eval.Query, _ *manual) string {
		return "please help, I am trying to find out: " + lowerFirst(q.Text) + " thanks in advance"
	}},
}

func withSuffix(words string) func(*eval.Query, *manual) string {
	return func(q *eval.Query, _ *manual) string { return withoutMark(q.Text) + " " + words }
}

// site returns the host of the manual's site.
func (m *manual) site() string {
	host, _, _ := strings.Cut(strings.TrimPrefix(m.urls[0], "https://"), "/")
	return strings.TrimPrefix(host, "www.")
}

// withoutMark removes the punctuation at the end of a query.
func withoutMark(text string) string { return strings.TrimRight(text, "?!. ") }

// questionOpenings can be replaced by "how can I".
var questionOpenings = []string{"how do i ", "how can i ", "how to ", "how do you ", "how does one ", "how should i ", "can i ", "is it possible to "}

func withoutQuestion(text string) string {
	for _, opening := range questionOpenings {
		if len(text) > len(opening) && strings.EqualFold(text[:len(opening)], opening) {
			return text[len(opening):]
		}
	}
	return text
}

// lowerFirst lowercases the first letter, unless the word is all caps.
func lowerFirst(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	second, _ := utf8.DecodeRuneInString(text[n:])
	if unicode.IsUpper(second) {
		return text
	}
	return string(unicode.ToLower(first)) + text[n:]
}

// lastWordsFirst moves the last third of the words to the front.
func lastWordsFirst(text string) string {
	words := strings.Fields(withoutMark(text))
	at := len(words) - len(words)/3
	return strings.Join(slices.Concat(words[at:], words[:at]), " ")
}

// functionWords are the words that an agent omits from a keyword query.
var functionWords = strings.Fields(`a about all an and any are as at be between but by can could did do does for from get had has have how i if in
	into is it its make me my need no not of on one or should so some than that the their them then there these they this to up use using
	want was way we what when where which who why will with without would you your possible best`)

// contentWords returns the words of a query without function words, surrounding
// punctuation and names of the manual.
func (m *manual) contentWords(text string) []string {
	var words []string
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, `?!.,;:"'()`+"`")
		if w != "" && !slices.Contains(functionWords, strings.ToLower(w)) && !m.isNamed(w) {
			words = append(words, w)
		}
	}
	return words
}

func (m *manual) isNamed(word string) bool {
	return slices.ContainsFunc(append([]string{m.name}, m.keywords...), func(name string) bool { return strings.EqualFold(name, word) })
}

// misspelled swaps two neighboring letters within one word. The query's ID determines
// the word and the letters.
func misspelled(q *eval.Query, m *manual) string {
	words := strings.Fields(q.Text)
	var candidates []int
	for i, w := range words {
		if len(w) >= 5 && strings.IndexFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 &&
			!m.isNamed(w) && !slices.Contains(functionWords, w) && swapLetters(w, 0) != w {
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 {
		return q.Text
	}
	h := fnv.New32a()
	h.Write([]byte(q.ID))
	n := int(h.Sum32() & 0xffff)
	i := candidates[n%len(candidates)]
	words[i] = swapLetters(words[i], n)
	return strings.Join(words, " ")
}

// swapLetters swaps two different neighboring letters, but not the first one. It
// returns the word unchanged if there are none.
func swapLetters(word string, from int) string {
	for k := range len(word) - 2 {
		i := 1 + (from+k)%(len(word)-2)
		if word[i] != word[i+1] {
			return word[:i] + string(word[i+1]) + string(word[i]) + word[i+2:]
		}
	}
	return word
}

// quoteLongestWord quotes the longest content word, or the first of several.
func quoteLongestWord(text string, m *manual) string {
	longest := ""
	for _, w := range m.contentWords(text) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	if longest == "" || strings.Contains(longest, `"`) {
		return text
	}
	return strings.Replace(text, longest, `"`+longest+`"`, 1)
}

// variants measures every judged query in every variant.
func (l *harness) variants(out *output) error {
	queries, err := eval.ReadJudged(filepath.Join(l.collections, "docs", "queries.jsonl"), "")
	if err != nil {
		return err
	}
	var lines []judgedLine
	for _, v := range allVariants {
		for i := range queries {
			q := &queries[i]
			m := manualNamed(q.Set)
			if m == nil {
				return fmt.Errorf("query %s: unknown manual %q", q.ID, q.Set)
			}
			lines = append(lines, newJudgedLine(v.name+": "+q.ID, q.Set, v.form(q, m), q.Targets))
		}
	}
	results, err := l.evalConfigured("variants", lines)
	if err != nil {
		return err
	}
	tableHeader(&out.tables, "Query variants", "variant", "page nDCG@10", "change", "section nDCG@10", "change", "answered",
		"relative to plain")
	plainResults := results[:len(queries)]
	plain := scoreOf(plainResults)
	for i, v := range allVariants {
		variantResults := results[i*len(queries):][:len(queries)]
		s := scoreOf(variantResults)
		tableRow(&out.tables, v.name, s.page, signed(s.page-plain.page), s.section, signed(s.section-plain.section), s.confident, percent(s.confident, plain.confident))
		for k, r := range variantResults {
			if before := plainResults[k]; before.Confident && !r.Confident {
				fmt.Fprintf(out.cases, "no longer answered (%s, %s; confidence %.2f, was %.2f): %s\n", v.name, r.Set, r.Confidence, before.Confidence, r.Text)
			}
		}
	}
	return nil
}

// A variantScore is the score of all queries in one variant.
type variantScore struct {
	page, section float64
	confident     int
}

func scoreOf(results []queryResult) variantScore {
	var r variantScore
	var pages, sections []eval.Measures
	for _, q := range results {
		pages, sections = append(pages, q.Page), append(sections, q.Section)
		if q.Confident {
			r.confident++
		}
	}
	r.page, r.section = eval.Mean(pages).NDCG10, eval.Mean(sections).NDCG10
	return r
}

func signed(x float64) string { return fmt.Sprintf("%+.3f", x) }

func manualNamed(name string) *manual {
	i := slices.IndexFunc(docSets, func(m manual) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return &docSets[i]
}
