package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/eval"
)

// A search is a web search of an agent. It contains the name of software whose manual
// is a database.
type search struct {
	Set        string   `json:"ds"`
	Answerable bool     // by the manual; otherwise only the web answers it
	Query      string   `json:"query"`
	Allowed    []string `json:"allowed_domains"`
	Kind       string   `json:"kind"` // of the search
	Half       string   `json:"half"` // "dev" or "held-out", whose cases must not be read
	Targets    []string // parts of the manual that answer: "page" or "page#anchor"
}

// devHalf is the half whose individual cases may be inspected.
const devHalf = "dev"

// A judgedSearch is a search with the hook's reply.
type judgedSearch struct {
	search
	reply
	right bool // a target is among the quoted passages
}

// denials sends the hook web searches from the collections and from testdata. The
// manuals answer one half of them.
func (l *harness) denials(out *output) error {
	searches, err := eval.ReadLines[search](filepath.Join(l.collections, "docs", "denials.jsonl"))
	if err != nil {
		return err
	}
	collected, err := l.askSearches("denials-docs", searches, &l.docs)
	if err != nil {
		return err
	}
	if searches, err = eval.ReadLines[search](filepath.Join("test", "eval", "testdata", "denials.jsonl")); err != nil {
		return err
	}
	further, err := l.askSearches("denials-further", searches, &l.further)
	if err != nil {
		return err
	}
	denialsBySet(&out.tables, collected, further)
	denialsByKind(&out.tables, further)
	for _, s := range slices.Concat(collected, further) {
		s.list(out.cases)
	}
	return nil
}

// askSearches sends each search to the hook of a user with the manuals of a library.
func (l *harness) askSearches(name string, searches []search, lib *library) ([]judgedSearch, error) {
	passages, err := l.passagesOf(lib)
	if err != nil {
		return nil, err
	}
	h, err := l.newHook(name, l.configuration(lib.manuals...))
	if err != nil {
		return nil, err
	}
	return h.decide(searches, passages)
}

// decide sends each search to the hook. lib has the passages of its databases.
func (h *hook) decide(searches []search, lib passageIndex) ([]judgedSearch, error) {
	var judged []judgedSearch
	for _, s := range searches {
		j := judgedSearch{search: s}
		var err error
		if j.reply, err = h.askSearch(s.Query, s.Allowed...); err != nil {
			return nil, err
		}
		if j.right, err = lib.containsAny(sources(j.Context), s.Set, s.Targets); err != nil {
			return nil, fmt.Errorf("%q: %w", s.Query, err)
		}
		judged = append(judged, j)
	}
	return judged, nil
}

// list prints a case, unless it is held out: a missed search on one line, a denial
// in full.
func (s *judgedSearch) list(w io.Writer) {
	switch {
	case s.Half != "" && s.Half != devHalf:
	case s.Denied && s.Answerable:
		fmt.Fprintf(w, "\n#### denied, answerable (%s %s): %s\n\n%s\n\n%s\n", s.Set, s.Kind, s.Query, s.Reason, s.Context)
	case s.Denied:
		fmt.Fprintf(w, "\n#### DENIED WRONGLY (%s %s): %s %q\n\n%s\n\n%s\n", s.Set, s.Kind, s.Query, s.Allowed, s.Reason, s.Context)
	case s.Answerable:
		fmt.Fprintf(w, "\n#### NOT DENIED (%s %s): %s\n", s.Set, s.Kind, s.Query)
	}
}

// A tally counts searches of one kind.
type tally struct{ asked, denied, judged, right int }

func count(searches []judgedSearch, which func(*judgedSearch) bool) tally {
	var t tally
	for i := range searches {
		s := &searches[i]
		if !which(s) {
			continue
		}
		t.asked++
		if s.Denied {
			t.denied++
			if len(s.Targets) > 0 {
				t.judged++
			}
			if s.right {
				t.right++
			}
		}
	}
	return t
}

// percent returns part/whole in percent, "-" if whole is 0.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

func denialsBySet(w io.Writer, collected, further []judgedSearch) {
	tableHeader(w, "Denied web searches by manual", "manual", "answerable", "denied", "share", "correct page quoted",
		"web only", "denied", "share")
	for _, m := range slices.Concat(docSets, furtherSets) {
		deniedLine(w, m.name, slices.Concat(collected, further), func(s *judgedSearch) bool { return s.Set == m.name })
	}
	deniedLine(w, "**judged manuals**", collected, allSearches)
	deniedLine(w, "**further manuals**", further, allSearches)
	for _, half := range halves {
		deniedLine(w, "further manuals, "+half, further, func(s *judgedSearch) bool { return s.Half == half })
	}
}

// deniedLine prints a row for the searches that which selects, unless it selects
// none.
func deniedLine(w io.Writer, name string, searches []judgedSearch, which func(*judgedSearch) bool) {
	yes := count(searches, func(s *judgedSearch) bool { return s.Answerable && which(s) })
	no := count(searches, func(s *judgedSearch) bool { return !s.Answerable && which(s) })
	if yes.asked+no.asked > 0 {
		tableRow(w, name, yes.asked, yes.denied, percent(yes.denied, yes.asked), percent(yes.right, yes.judged), no.asked, no.denied, percent(no.denied, no.asked))
	}
}

func allSearches(*judgedSearch) bool { return true }

var halves = []string{devHalf, "held-out"}

// A kind is a category of searches. All searches of a kind are answerable, or none is.
type kind struct{ name, title string }

// kinds are the kinds of searches in testdata: first those that the manuals answer,
// then those that only the web answers.
var kinds = []kind{
	{"reference", "option, function, or syntax"},
	{"howto", "task"},
	{"concept", "concept"},
	{"error", "error message"},
	{"version", "another version"},
	{"others", "other software that mentions the name"},
	{"news", "news, prices, releases, advisories, jobs"},
	{"opinion", "opinions and comparisons"},
	{"meaning", "another meaning of the name"},
	{"site", "other sites"},
	{"ecosystem", "ecosystem"},
}

func denialsByKind(w io.Writer, further []judgedSearch) {
	tableHeader(w, "Denied web searches by category", "category", "expected", "searches", "denied", "share",
		"dev: searches", "denied", "held-out: searches", "denied")
	for _, k := range kinds {
		all := count(further, func(s *judgedSearch) bool { return s.Kind == k.name })
		expected := "run"
		if slices.ContainsFunc(further, func(s judgedSearch) bool { return s.Kind == k.name && s.Answerable }) {
			expected = "denied"
		}
		row := []any{k.title, expected, all.asked, all.denied, percent(all.denied, all.asked)}
		for _, half := range halves {
			t := count(further, func(s *judgedSearch) bool { return s.Kind == k.name && s.Half == half })
			row = append(row, t.asked, t.denied)
		}
		tableRow(w, row...)
	}
}
