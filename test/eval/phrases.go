package main

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
)

// minPhrases is the least share of phrases in the denials.
const minPhrases = .80

// An answered is a judged query or search with the words that its answer cannot do
// without: names, options and parts of sentences of the manual.
type answered struct {
	Query   string   `json:"query"` // id of the query, or "denials:" and the line of the search
	Phrases []string `json:"phrases"`
}

// A phraseScore counts the denials of some queries and the phrases that they quote.
type phraseScore struct{ queries, denials, phrases, quoted, whole int }

// phrases asks the hook the queries of testdata/phrases.jsonl, and counts the phrases in
// its denials. The database is that of the query: its site is the allowed domain.
func (l *harness) phrases(out *output) error {
	if _, err := l.open(&l.docs); err != nil {
		return err
	}
	cases, err := eval.ReadLines[answered](filepath.Join("test", "eval", "testdata", "phrases.jsonl"))
	if err != nil {
		return err
	}
	texts, err := l.judgedTexts()
	if err != nil {
		return err
	}
	h, err := l.newHook("phrases", l.configuration(docSets...))
	if err != nil {
		return err
	}
	scores, all := make([]phraseScore, len(docSets)), phraseScore{}
	for _, c := range cases {
		q, ok := texts[c.Query]
		if !ok {
			return fmt.Errorf("phrases.jsonl: no query %q among the judged ones", c.Query)
		}
		for i, m := range docSets {
			if m.name != q.Set {
				continue
			}
			s, err := h.quoted(m, q.Query, c.Phrases, out.cases)
			if err != nil {
				return err
			}
			scores[i].add(s)
			all.add(s)
		}
	}
	tableHeader(&out.tables, "Words of the answer in a denial", "database", "queries", "denied", "phrases", "quoted", "denials with all of them")
	for i, m := range docSets {
		scores[i].row(&out.tables, m.name)
	}
	all.row(&out.tables, "**all**")
	if share := float64(all.quoted) / float64(all.phrases); share < minPhrases {
		out.misses = append(out.misses, fmt.Sprintf("phrases of the answers in denials: %.2f, floor %.2f", share, minPhrases))
	}
	return nil
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

// quoted asks for a query about a manual, and counts the phrases in the denial.
func (h *hook) quoted(m manual, query string, phrases []string, cases io.Writer) (phraseScore, error) {
	site, err := url.Parse(m.urls[0])
	if err != nil {
		return phraseScore{}, err
	}
	r, err := h.askSearch(query, site.Host)
	if err != nil {
		return phraseScore{}, err
	}
	s := phraseScore{queries: 1}
	if !r.Denied {
		return s, nil
	}
	s.denials, s.phrases = 1, len(phrases)
	text := plainWords(r.Context)
	for _, p := range phrases {
		if strings.Contains(text, plainWords(p)) {
			s.quoted++
		} else {
			fmt.Fprintf(cases, "not quoted (%s): %s: %s\n", m.name, query, p)
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

func (s *phraseScore) add(t phraseScore) {
	*s = phraseScore{s.queries + t.queries, s.denials + t.denials, s.phrases + t.phrases, s.quoted + t.quoted, s.whole + t.whole}
}

func (s *phraseScore) row(w io.Writer, name string) {
	tableRow(w, name, s.queries, s.denials, s.phrases, percent(s.quoted, s.phrases), percent(s.whole, s.denials))
}
