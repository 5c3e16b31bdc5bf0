package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
)

// The least shares of phrases in the denials.
const (
	minPhrases       = .80
	minSearchPhrases = .72
)

// An answered is a judged query or search with the words that its answer cannot do
// without: names, options and parts of sentences of the manual.
type answered struct {
	Query   string   `json:"query"` // id of the query, or "denials:" and the line of the search
	Phrases []string `json:"phrases"`
}

// An answeredSearch is another search about a manual with such words.
type answeredSearch struct {
	search
	Phrases []string `json:"phrases"`
}

// A phraseScore counts the denials of some queries and the phrases that they quote.
type phraseScore struct{ queries, denials, phrases, quoted, whole int }

// phrases asks the hook the queries of testdata/phrases.jsonl and the searches of
// testdata/searches.jsonl, and counts the phrases in its denials. The database of a query is
// known: its site is the allowed domain.
func (l *harness) phrases(out *output) error {
	if _, err := l.open(&l.docs); err != nil {
		return err
	}
	judged, err := l.judgedPhrases()
	if err != nil {
		return err
	}
	searches, err := eval.ReadLines[answeredSearch](filepath.Join("test", "eval", "testdata", "searches.jsonl"))
	if err != nil {
		return err
	}
	h, err := l.newHook("phrases", l.configuration(docSets...))
	if err != nil {
		return err
	}
	if err := h.quotedOf("Words of the answer in a denial", judged, minPhrases, out); err != nil {
		return err
	}
	return h.quotedOf("The same for searches as agents write them", searches, minSearchPhrases, out)
}

// quotedOf asks searches and writes a table of the phrases in the denials. The least share of
// them is a floor.
func (h *hook) quotedOf(title string, searches []answeredSearch, least float64, out *output) error {
	scores, all := make(map[string]phraseScore), phraseScore{} // by manual
	for _, s := range searches {
		score, err := h.quoted(&s, out.cases)
		if err != nil {
			return err
		}
		scores[s.Set] = scores[s.Set].plus(score)
		all = all.plus(score)
	}
	tableHeader(&out.tables, title, "database", "queries", "denied", "phrases", "quoted", "denials with all of them")
	for _, m := range docSets {
		scores[m.name].row(&out.tables, m.name)
	}
	all.row(&out.tables, "**all**")
	if share := float64(all.quoted) / float64(all.phrases); share < least {
		out.misses = append(out.misses, fmt.Sprintf("%s: %.2f, floor %.2f", title, share, least))
	}
	return nil
}

// judgedPhrases returns the queries of testdata/phrases.jsonl.
func (l *harness) judgedPhrases() ([]answeredSearch, error) {
	cases, err := eval.ReadLines[answered](filepath.Join("test", "eval", "testdata", "phrases.jsonl"))
	if err != nil {
		return nil, err
	}
	texts, err := l.judgedTexts()
	if err != nil {
		return nil, err
	}
	var list []answeredSearch
	for _, c := range cases {
		s, ok := texts[c.Query]
		m := manualNamed(s.Set)
		if !ok || m == nil {
			return nil, fmt.Errorf("phrases.jsonl: no query %q among the judged ones", c.Query)
		}
		s.Allowed = []string{m.site()}
		list = append(list, answeredSearch{s, c.Phrases})
	}
	return list, nil
}

// judgedTexts returns the judged queries and searches by their ids in answered.Query.
func (l *harness) judgedTexts() (map[string]search, error) {
	texts := make(map[string]search)
	queries, err := eval.ReadQueries(filepath.Join(l.collections, "docs"))
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		texts[q.ID] = search{Set: q.Set, Query: q.Text}
	}
	searches, err := eval.ReadLines[search](filepath.Join(l.collections, "docs", "denials.jsonl"))
	for i, s := range searches {
		texts[fmt.Sprintf("denials:%d", i+1)] = s
	}
	return texts, err
}

// quoted asks a search, and counts the phrases in the denial.
func (h *hook) quoted(q *answeredSearch, cases io.Writer) (phraseScore, error) {
	r, err := h.askSearch(q.Query, q.Allowed...)
	if err != nil {
		return phraseScore{}, err
	}
	s := phraseScore{queries: 1}
	if !r.Denied {
		return s, nil
	}
	s.denials, s.phrases = 1, len(q.Phrases)
	text := plainWords(r.Context)
	for _, p := range q.Phrases {
		if strings.Contains(text, plainWords(p)) {
			s.quoted++
		} else {
			fmt.Fprintf(cases, "not quoted (%s): %s: %s\n", q.Set, q.Query, p)
		}
	}
	if s.quoted == s.phrases {
		s.whole = 1
	}
	return s, nil
}

// plainWords returns a text in lower case without quotes, emphasis and line breaks.
func plainWords(s string) string {
	s = strings.NewReplacer("`", "", "*", "", "“", "", "”", "", `"`, "", "'", "").Replace(s)
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}

func (s phraseScore) plus(t phraseScore) phraseScore {
	return phraseScore{s.queries + t.queries, s.denials + t.denials, s.phrases + t.phrases, s.quoted + t.quoted, s.whole + t.whole}
}

func (s phraseScore) row(w io.Writer, name string) {
	tableRow(w, name, s.queries, s.denials, s.phrases, percent(s.quoted, s.phrases), percent(s.whole, s.denials))
}
