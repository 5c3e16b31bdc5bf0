package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
)

// printFetched prints the download result of a plan whose source is a site, and
// lists the pages that failed.
func (b *buildCommand) printFetched(p library.Plan) {
	if d, ok := p.Source.(*pack.Database); ok {
		b.printPack(p.Label, d)
		return
	}
	s := p.Site()
	if s == nil {
		return
	}
	r := s.Report()
	fmt.Fprintf(b.stdout, "%s: %s\n", p.Label, fetchSummary(r))
	printOutcomes(b.stderr, "failed", r.Failed)
	for _, limit := range r.Limits {
		fmt.Fprintf(b.stderr, "docsearch: %s\n", limit)
	}
	if r.Lost > 0 {
		fmt.Fprintf(b.stderr, "hint: run docsearch index build %s to remove them\n", quoteArgument(p.Label))
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

// A sizeValue is a flag value in bytes, for example 500MB.
type sizeValue int64

func (v *sizeValue) Type() string { return "size" }

func (v *sizeValue) String() string {
	if *v == 0 {
		return ""
	}
	return size(int64(*v))
}

func (v *sizeValue) Set(s string) error {
	number := strings.TrimSpace(strings.ToUpper(s))
	unit := int64(1)
	for i, suffix := range []string{"KB", "MB", "GB"} {
		if n, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = strings.TrimSpace(n), int64(math.Pow10(3*(i+1)))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return errors.New("want a number with a unit, such as 500MB or 2GB")
	}
	*v = sizeValue(n * unit)
	return nil
}
