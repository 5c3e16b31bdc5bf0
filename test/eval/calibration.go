package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// calibrationFile contains searches about manuals that no weight is fitted to.
var calibrationFile = filepath.Join("test", "eval", "testdata", "calibration.jsonl")

// A calibrationSearch is a search with the pages that answer it.
type calibrationSearch struct {
	search
	// Pages is a regular expression for the paths of the pages that answer; "" if none is
	// judged.
	Pages string
}

// calibrationKinds are the kinds of calibration searches.
var calibrationKinds = []kind{
	{"title", "a question as on a forum"},
	{"agent", "a search as agents write it"},
	{"error", "an error message"},
	{"beginner", "a task without the manual's words"},
	{"identifier", "an identifier"},
	{"own-version", "the version of the manual"},
	{"web", "only the web answers"},
	{"version", "another version"},
}

// Limits for the shares of denied calibration searches.
const (
	minAnswerable   = .93
	maxWebOnly      = .06
	maxOtherVersion = .05
)

// A calibrated is a calibration search with the hook's decision.
type calibrated struct {
	*calibrationSearch
	confidence float64
	denied     bool
	quoted     bool // a page that answers is among the quoted ones
}

// useful reports whether a denial answers the search, as far as its pages are judged.
func (c *calibrated) useful() bool { return c.Answerable && (c.quoted || c.Pages == "") }

// calibrate prints what the hook denies of searches about manuals that nothing was fitted to,
// and how often denials of each confidence are useful.
func (l *harness) calibrate(out *output) error {
	if _, err := l.open(&l.calibration); err != nil {
		return err
	}
	searches, err := eval.ReadLines[calibrationSearch](calibrationFile)
	if err != nil {
		return err
	}
	var all []calibrated
	for _, m := range calibrationSets {
		found, err := l.decideAll(&m, searches)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		all = append(all, found...)
	}
	w := &out.tables
	tableHeader(w, "Searches about manuals outside the fit", "kind", "searches", "denied", "share", "a page that answers is quoted")
	for _, k := range calibrationKinds {
		calibrationRow(w, k.title, ofKinds(all, k.name))
	}
	answerable, web, version := ofKinds(all, "title", "agent", "error", "beginner", "identifier"), ofKinds(all, "web"), ofKinds(all, "version")
	calibrationRow(w, "**answerable**", answerable)
	reliability(w, slices.Concat(answerable, web, version))
	out.check("denied calibration searches that are answerable", deniedShare(answerable), minAnswerable)
	out.check("calibration searches of the web that run", 1-deniedShare(web), 1-maxWebOnly)
	out.check("calibration searches of other versions that run", 1-deniedShare(version), 1-maxOtherVersion)
	for _, c := range all {
		if c.denied != c.Answerable {
			fmt.Fprintf(out.cases, "calibration: denied %t, %s %s, confidence %.2f: %s\n", c.denied, c.Set, c.Kind, c.confidence, c.Query)
		}
	}
	return nil
}

// decideAll decides the searches about one manual.
func (l *harness) decideAll(m *manual, searches []calibrationSearch) ([]calibrated, error) {
	x, err := quicksearch.Open(filepath.Join(l.data, m.name))
	if err != nil {
		return nil, err
	}
	defer x.Close()
	var all []calibrated
	for i := range searches {
		s := &searches[i]
		if s.Set != m.name {
			continue
		}
		a, err := x.Quote(quicksearch.Query{Text: s.Query, Names: m.names(), Version: m.version, Limit: lookup.MaxPassages, MaxBytes: lookup.MaxPassageBytes})
		if err != nil {
			return nil, err
		}
		pages, err := regexp.Compile(s.Pages)
		if err != nil {
			return nil, err
		}
		quoted := a.Confident && s.Pages != "" && slices.ContainsFunc(a.Hits, func(h quicksearch.Hit) bool { return pages.MatchString(h.Path) })
		all = append(all, calibrated{s, a.Confidence, a.Confident, quoted})
	}
	return all, nil
}

func ofKinds(all []calibrated, kinds ...string) []calibrated {
	return slices.DeleteFunc(slices.Clone(all), func(c calibrated) bool { return !slices.Contains(kinds, c.Kind) })
}

func calibrationRow(w io.Writer, title string, list []calibrated) {
	denied, judged, quoted := 0, 0, 0
	for _, c := range list {
		if !c.denied {
			continue
		}
		denied++
		if c.Pages != "" {
			judged++
		}
		if c.quoted {
			quoted++
		}
	}
	tableRow(w, title, len(list), denied, percent(denied, len(list)), percent(quoted, judged))
}

func deniedShare(list []calibrated) float64 {
	denied := 0
	for _, c := range list {
		if c.denied {
			denied++
		}
	}
	return float64(denied) / float64(max(1, len(list)))
}

// reliability prints, for each tenth of confidence, how many searches have it, and how many of
// the denied ones are answered.
func reliability(w io.Writer, all []calibrated) {
	tableHeader(w, "Confidence and useful denials", "confidence", "searches", "denied", "useful")
	for tenth := range 10 {
		searches, denied, useful := 0, 0, 0
		for _, c := range all {
			if min(9, int(10*c.confidence)) != tenth {
				continue
			}
			searches++
			if c.denied {
				denied++
				if c.useful() {
					useful++
				}
			}
		}
		tableRow(w, fmt.Sprintf("%.1f to %.1f", float64(tenth)/10, float64(tenth+1)/10), searches, denied, percent(useful, denied))
	}
}
