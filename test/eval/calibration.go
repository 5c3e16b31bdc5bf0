package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// calibrationFiles contain searches about manuals that no weight is fitted to.
var calibrationFiles = []struct {
	title, path string
	blind       bool // written after the rules, and before any result
	floors      calibrationFloors
}{
	{"Searches about manuals outside the fit", filepath.Join("test", "eval", "testdata", "calibration.jsonl"), false, calibrationFloors{.93, .94, .95, .89}},
	{"Blind searches about manuals outside the fit", filepath.Join("test", "eval", "testdata", "calibration-blind.jsonl"), true, calibrationFloors{.90, .86, .94, .86}},
}

// A calibrationSearch is a search with the pages that answer it.
type calibrationSearch struct {
	search
	// Pages is a regular expression for the paths of the pages that answer; "" if none is
	// judged.
	Pages string
	// Text is a regular expression for the passages that answer, of a manual with one page.
	Text string
}

// judged reports whether it is known what answers the search.
func (s *calibrationSearch) judged() bool { return s.Pages != "" || s.Text != "" }

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

// calibrationFloors are floors for shares of searches: answerable ones that are denied, those of
// the web and of other versions that run, and denials that remain with words added.
type calibrationFloors struct{ answerable, web, version, kept float64 }

// addedWords are words that people and agents add to a search without asking for something else.
var addedWords = []string{
	"step by step 2025", "tutorial for beginners", "reddit", "stack overflow", "best practice", "with example code",
	"please help urgent", "2026 guide", "explained simply", "not working", "cheat sheet", "in production", "how does it work",
	"complete walkthrough", "the right way", "quick start guide 2026", "full example github", "beginner friendly", "common mistakes", "recommended settings",
}

// A calibrated is a calibration search with the hook's decision.
type calibrated struct {
	*calibrationSearch
	half       int // of the manuals: 0 or 1
	confidence float64
	denied     bool
	quoted     bool // a page or passage that answers is among the quoted ones
	kept       bool // denied with added words too
}

// useful reports whether a denial answers the search, as far as it is judged.
func (c *calibrated) useful() bool { return c.Answerable && (c.quoted || !c.judged()) }

// listed reports whether a search that was decided wrongly may be read: rules are improved in
// view of one half of the blind searches and measured on the other.
func (c *calibrated) listed(blind bool) bool {
	return c.denied != c.Answerable && (!blind || c.half == 0)
}

// calibrate prints what the hook denies of searches about manuals that nothing was fitted to,
// and how often denials of each confidence are useful.
func (l *harness) calibrate(out *output) error {
	if _, err := l.open(&l.calibration); err != nil {
		return err
	}
	for _, file := range calibrationFiles {
		searches, err := eval.ReadLines[calibrationSearch](file.path)
		if err != nil {
			return err
		}
		var all []calibrated
		for i, m := range calibrationSets {
			found, err := l.decideAll(&m, i%2, searches)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			all = append(all, found...)
		}
		calibrationTables(out, file.title, all, file.floors)
		for _, c := range all {
			if c.listed(file.blind) {
				fmt.Fprintf(out.cases, "%s: denied %t, %s %s, confidence %.2f: %s\n", file.title, c.denied, c.Set, c.Kind, c.confidence, c.Query)
			}
		}
	}
	return nil
}

// answerableKinds are the kinds whose searches should be denied. Searches that name the manual's
// version are counted apart.
var answerableKinds = []string{"title", "agent", "error", "beginner", "identifier"}

func calibrationTables(out *output, title string, all []calibrated, floors calibrationFloors) {
	w := &out.tables
	answerable, web, version := ofKinds(all, answerableKinds...), ofKinds(all, "web"), ofKinds(all, "version")
	kept, denied := 0, 0
	for _, c := range answerable {
		if c.denied {
			denied++
			if c.kept {
				kept++
			}
		}
	}
	tableHeader(w, title, "kind", "searches", "denied", "share", "an answer is quoted")
	for _, k := range calibrationKinds {
		calibrationRow(w, k.title, ofKinds(all, k.name))
	}
	calibrationRow(w, "**answerable**", answerable)
	for half, name := range []string{"first half of the manuals", "second half"} {
		other := func(c calibrated) bool { return c.half != half }
		for _, list := range []struct {
			title    string
			searches []calibrated
		}{{"answerable", answerable}, {"only the web", web}, {"another version", version}} {
			calibrationRow(w, list.title+", "+name, slices.DeleteFunc(slices.Clone(list.searches), other))
		}
	}
	tableRow(w, "answerable and denied, with words added", denied, kept, percent(kept, denied), "-")
	spread(w, title, all)
	reliability(w, title, slices.Concat(answerable, web, version))
	out.check(title+": denied searches that are answerable", deniedShare(answerable), floors.answerable)
	out.check(title+": searches of the web that run", 1-deniedShare(web), floors.web)
	out.check(title+": searches of other versions that run", 1-deniedShare(version), floors.version)
	out.check(title+": denials that remain with words added", float64(kept)/float64(max(1, denied)), floors.kept)
}

// decideAll decides the searches about one manual.
func (l *harness) decideAll(m *manual, half int, searches []calibrationSearch) ([]calibrated, error) {
	x, err := quicksearch.Open(filepath.Join(l.data, m.name))
	if err != nil {
		return nil, err
	}
	defer x.Close()
	quote := func(text string) (quicksearch.Answer, error) {
		return x.Quote(quicksearch.Query{Text: text, Names: m.names(), Version: m.version, Limit: lookup.MaxPassages, MaxBytes: lookup.MaxPassageBytes})
	}
	var all []calibrated
	for i := range searches {
		s := &searches[i]
		if s.Set != m.name {
			continue
		}
		a, err := quote(s.Query)
		if err != nil {
			return nil, err
		}
		c := calibrated{calibrationSearch: s, half: half, confidence: a.Confidence, denied: a.Confident}
		if a.Confident {
			if c.quoted, err = s.answeredBy(a.Hits); err != nil {
				return nil, err
			}
			more, err := quote(strings.TrimRight(s.Query, "?") + " " + addedWords[i%len(addedWords)])
			if err != nil {
				return nil, err
			}
			c.kept = more.Confident
		}
		all = append(all, c)
	}
	return all, nil
}

// answeredBy reports whether a hit is on a page or has the text that answers the search.
func (s *calibrationSearch) answeredBy(hits []quicksearch.Hit) (bool, error) {
	pages, err := regexp.Compile(s.Pages)
	if err != nil {
		return false, err
	}
	text, err := regexp.Compile(s.Text)
	if err != nil {
		return false, err
	}
	return s.judged() && slices.ContainsFunc(hits, func(h quicksearch.Hit) bool {
		return pages.MatchString(h.Path) && text.MatchString(h.Text)
	}), nil
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
		if c.judged() {
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

// spread prints how the shares of denied searches differ between manuals.
func spread(w io.Writer, title string, all []calibrated) {
	tableHeader(w, title+": spread over the manuals", "kind", "manuals", "lowest share", "lower quartile", "median", "upper quartile", "highest share")
	for _, kinds := range []struct {
		title string
		names []string
	}{{"answerable", answerableKinds}, {"only the web or another version", []string{"web", "version"}}} {
		bySet := map[string][]calibrated{}
		for _, c := range ofKinds(all, kinds.names...) {
			bySet[c.Set] = append(bySet[c.Set], c)
		}
		var shares []float64
		for _, list := range bySet {
			shares = append(shares, deniedShare(list))
		}
		slices.Sort(shares)
		at := func(quarter int) float64 { return shares[quarter*(len(shares)-1)/4] }
		tableRow(w, kinds.title, len(shares), at(0), at(1), at(2), at(3), at(4))
	}
}

// reliability prints, for each tenth of confidence, how many searches have it, and how many of
// the denied ones are answered.
func reliability(w io.Writer, title string, all []calibrated) {
	tableHeader(w, title+": confidence and useful denials", "confidence", "searches", "denied", "useful")
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
