package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// namesPerQuery is how many identifiers a query of severalNames has at most.
const namesPerQuery = 3

// severalNames searches for two or three identifiers of one page at once, and counts those
// whose section is found.
func (l *harness) severalNames(out *output) error {
	if _, err := l.open(&l.docs); err != nil {
		return err
	}
	identifiers, err := eval.ReadIdentifiers(filepath.Join(l.collections, "docs", "identifiers.jsonl"))
	if err != nil {
		return err
	}
	tableHeader(&out.tables, "Several identifiers of one page in a query", "database", "queries", "identifiers", "section in top 5", "section among the hook's passages")
	var all severalScore
	for _, m := range docSets {
		s, err := l.severalNamesOf(m, identifiers)
		if err != nil {
			return err
		}
		if s.queries > 0 {
			s.row(out, m.name)
		}
		all = severalScore{all.queries + s.queries, all.names + s.names, all.found + s.found, all.quoted + s.quoted}
	}
	all.row(out, "**all**")
	return nil
}

type severalScore struct{ queries, names, found, quoted int }

func (s *severalScore) row(out *output, name string) {
	tableRow(&out.tables, name, s.queries, s.names, percent(s.found, s.names), percent(s.quoted, s.names))
}

func (l *harness) severalNamesOf(m manual, identifiers []eval.Identifier) (s severalScore, err error) {
	dir := filepath.Join(l.data, m.name)
	db, err := index.Open(dir)
	if err != nil {
		return s, err
	}
	defer db.Close()
	quick, err := quicksearch.Open(dir)
	if err != nil {
		return s, err
	}
	defer quick.Close()
	c := clusterCase{manual: m, root: db.Info().Source.Root}
	for _, group := range samePage(m.name, identifiers) {
		var words []string
		for _, id := range group {
			words = append(words, id.Name)
		}
		text := strings.Join(words, " ")
		r, err := db.Search(l.ctx, index.Query{Text: text, Names: m.names(), Named: true, TopK: 5})
		if err != nil {
			return s, err
		}
		a, err := quick.Quote(quicksearch.Query{Text: text, Names: m.names(), Named: true, Limit: lookup.MaxPassages, MaxBytes: lookup.MaxPassageBytes})
		if err != nil {
			return s, err
		}
		s.queries++
		for _, id := range group {
			q := &eval.Query{Targets: []eval.Target{{Page: id.Page, Anchor: id.Anchor, Grade: 1}}}
			has := func(p *passage.Passage) int {
				place := eval.Place{Page: c.page(q, p), Anchors: p.Anchors}
				return int(eval.Measure(q.RankedSections([]eval.Place{place})).Success1)
			}
			found, quoted := 0, 0
			for i := range r.Hits {
				found = max(found, has(&r.Hits[i].Passage))
			}
			for i := range a.Hits {
				quoted = max(quoted, has(&a.Hits[i].Passage))
			}
			s.names, s.found, s.quoted = s.names+1, s.found+found, s.quoted+quoted
		}
	}
	return s, nil
}

// samePage returns groups of identifiers of a manual, each of two or three with one page.
func samePage(set string, identifiers []eval.Identifier) (groups [][]eval.Identifier) {
	open := map[string]int{} // index of the last group by page
	for _, id := range identifiers {
		if id.Set != set {
			continue
		}
		i, ok := open[id.Page]
		if !ok || len(groups[i]) == namesPerQuery {
			i = len(groups)
			open[id.Page] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], id)
	}
	return slices.DeleteFunc(groups, func(g []eval.Identifier) bool { return len(g) == 1 })
}
