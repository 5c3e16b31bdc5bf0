package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
)

// printFetched prints the download result of a plan whose source is a site, and
// lists the pages that failed.
func (a *app) printFetched(p library.Plan) {
	if d, ok := p.Source.(*pack.Database); ok {
		a.printPack(p.Label, d)
		return
	}
	s := p.Site()
	if s == nil {
		return
	}
	r := s.Report()
	fmt.Fprintf(a.stdout, "%s: %s\n", p.Label, fetchSummary(r))
	printOutcomes(a.stderr, "failed", r.Failed)
	for _, limit := range r.Limits {
		fmt.Fprintf(a.stderr, "docsearch: %s\n", limit)
	}
	if r.Lost > 0 {
		fmt.Fprintf(a.stderr, "hint: run docsearch index build %s to remove them\n", quoteArgument(p.Label))
	}
}

// fetchSummary returns a report as one line.
func fetchSummary(r site.Report) string {
	parts := []string{count(r.Fetched, "new or changed page")}
	parts = appendCount(parts, r.Unchanged, "unchanged")
	parts = appendCount(parts, r.Resumed, "downloaded before the interruption")
	parts = appendCount(parts, len(r.Removed), "removed")
	parts = appendCount(parts, len(r.Failed), "failed")
	return fmt.Sprintf("found through %s: %s; %s received", r.Discovery, strings.Join(parts, ", "), size(r.Bytes))
}

func printOutcomes(w io.Writer, label string, outcomes []site.Outcome) {
	for _, o := range outcomes {
		fmt.Fprintf(w, "docsearch: %s: %s: %s\n", label, printable(o.URL), printable(o.Reason))
	}
}
