package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
)

// foreignFile has identifiers of other software than docSets, one per line.
var foreignFile = filepath.Join("test", "eval", "testdata", "identifiers.txt")

// identifiers sends the hook identifiers as web searches, without any other word: those that
// one manual defines, and those of other software.
func (l *harness) identifiers(out *output) error {
	defined, err := eval.ReadIdentifiers(filepath.Join(l.collections, "docs", "identifiers.jsonl"))
	if err != nil {
		return err
	}
	foreign, err := os.ReadFile(foreignFile)
	if err != nil {
		return err
	}
	var searches []search
	for _, id := range defined {
		searches = append(searches, search{Set: id.Set, Answerable: true, Query: id.Name, Targets: []string{id.Page + "#" + id.Anchor}})
	}
	for _, name := range strings.Fields(string(foreign)) {
		searches = append(searches, search{Query: name})
	}
	judged, err := l.askSearches("identifiers", searches, &l.docs)
	if err != nil {
		return err
	}
	tableHeader(&out.tables, "Searches that are one identifier", "defined by", "identifiers", "denied", "share", "section quoted")
	line := func(name string, which func(*judgedSearch) bool) {
		if c := count(judged, which); c.asked > 0 {
			tableRow(&out.tables, name, c.asked, c.denied, percent(c.denied, c.asked), percent(c.right, c.judged))
		}
	}
	for _, m := range docSets {
		line(m.name, func(s *judgedSearch) bool { return s.Set == m.name })
	}
	line("**all manuals**", func(s *judgedSearch) bool { return s.Answerable })
	line("other software", func(s *judgedSearch) bool { return !s.Answerable })
	for i := range judged {
		judged[i].list(out.cases)
	}
	return nil
}
