package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

func TestDenialsData(t *testing.T) {
	searches, err := eval.ReadLines[search](filepath.Join("testdata", "denials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var answerable, webOnly int
	halves := map[string]int{} // by kind: number in the dev half minus number in the other half
	for _, s := range searches {
		if s.Answerable {
			answerable++
		} else {
			webOnly++
		}
		switch s.Half {
		case "dev":
			halves[s.Kind]++
		case "held-out":
			halves[s.Kind]--
		default:
			t.Errorf("%q: half %q", s.Query, s.Half)
		}
	}
	checkSearches(t, searches, furtherSets)
	if answerable < 100 || webOnly < 120 {
		t.Errorf("%d answerable searches, %d for the web", answerable, webOnly)
	}
	for _, k := range kinds {
		if n, ok := halves[k.name]; !ok || n < -1 || n > 1 {
			t.Errorf("kind %q: the halves differ by %d", k.name, n)
		}
		delete(halves, k.name)
	}
	if len(halves) > 0 {
		t.Errorf("kinds without a line in the table: %v", halves)
	}
}

func TestTrainingData(t *testing.T) {
	searches, err := eval.ReadLines[search](filepath.Join("testdata", filepath.Base(trainingFile)))
	if err != nil {
		t.Fatal(err)
	}
	checkSearches(t, searches, slices.Concat(docSets, trainingSets))
	var known []string
	for _, k := range slices.Concat(kinds, trainingKinds) {
		known = append(known, k.name)
	}
	perManual := map[string]int{} // answerable searches of a manual
	answerable := map[string]bool{}
	for _, s := range searches {
		if !slices.Contains(known, s.Kind) {
			t.Errorf("%q: kind %q has no line in the table", s.Query, s.Kind)
		}
		if was, ok := answerable[s.Kind]; ok && was != s.Answerable {
			t.Errorf("%q: some searches of kind %q are answerable and some are not", s.Query, s.Kind)
		}
		answerable[s.Kind] = s.Answerable
		if s.Answerable {
			perManual[s.Set]++
		}
		if s.Half != "" {
			t.Errorf("%q: half %q", s.Query, s.Half)
		}
	}
	for _, m := range slices.Concat(docSets, trainingSets) {
		if all := len(about(searches, []manual{m})); all < 60 || 2*perManual[m.name] != all {
			t.Errorf("%s: %d of %d searches are answerable, want half", m.name, perManual[m.name], all)
		}
	}
	if others := about(searches, furtherSets); len(others) > 0 {
		t.Errorf("%q is about a manual of the measured searches", others[0].Query)
	}
}

func TestForeignIdentifiers(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", filepath.Base(foreignFile)))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(data))
	for i, name := range names {
		if !lexical.IsIdentifier(name) || slices.Contains(names[:i], name) {
			t.Errorf("%s is no identifier, or there twice", name)
		}
	}
	if len(names) < 140 {
		t.Errorf("%d identifiers", len(names))
	}
}

// Training searches are not among the measured searches.
func TestTrainingIsNotMeasured(t *testing.T) {
	searches, err := eval.ReadLines[search](filepath.Join("testdata", filepath.Base(trainingFile)))
	if err != nil {
		t.Fatal(err)
	}
	measured, err := eval.ReadLines[search](filepath.Join("testdata", "denials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range searches {
		if slices.ContainsFunc(measured, func(m search) bool { return strings.EqualFold(m.Query, s.Query) }) {
			t.Errorf("%q is measured", s.Query)
		}
	}
}

// checkSearches checks that searches are unique, that answerable ones have targets, and
// that each one reaches the database of its manual unless it is limited to other sites.
func checkSearches(t *testing.T, searches []search, manuals []manual) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range searches {
		if seen[s.Query] {
			t.Errorf("%q occurs twice", s.Query)
		}
		seen[s.Query] = true
		if s.Answerable != (len(s.Targets) > 0) {
			t.Errorf("%q: answerable %t, targets %q", s.Query, s.Answerable, s.Targets)
		}
		i := slices.IndexFunc(manuals, func(m manual) bool { return m.name == s.Set })
		if i < 0 {
			t.Errorf("%q: unknown manual %q", s.Query, s.Set)
			continue
		}
		db := config.Database{Keywords: manuals[i].names(), URLs: manuals[i].urls}
		asked := event.Search{Query: s.Query, Allowed: s.Allowed}
		if reaches := len(match.Databases(asked, &config.Config{Databases: []config.Database{db}})) > 0; !reaches && (s.Answerable || !match.Limited(asked)) {
			t.Errorf("%q does not name %s, so it cannot be denied", s.Query, s.Set)
		}
	}
}

func TestPhrasesData(t *testing.T) {
	judged, err := eval.ReadLines[answered](filepath.Join("testdata", "phrases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	searches, err := eval.ReadLines[answeredSearch](filepath.Join("testdata", "searches.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range searches {
		if manualNamed(s.Set) == nil {
			t.Errorf("%q: no manual %q", s.Query, s.Set)
		}
		judged = append(judged, answered{s.Query, s.Phrases})
	}
	seen := map[string]bool{}
	for _, c := range judged {
		if seen[c.Query] || len(c.Phrases) == 0 {
			t.Errorf("query %q occurs twice or has no phrases", c.Query)
		}
		seen[c.Query] = true
		for i, p := range c.Phrases {
			if plainWords(p) == "" || slices.Contains(c.Phrases[:i], p) {
				t.Errorf("query %q: phrase %q is empty or occurs twice", c.Query, p)
			}
		}
	}
}

func TestCallsData(t *testing.T) {
	calls, err := eval.ReadLines[toolCall](filepath.Join("testdata", "calls.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{} // the folder of each note
	for _, folder := range []string{"gateway", "storefront", "pipeline", "meshkit", "crate", noiseFolder} {
		files, err := filepath.Glob(filepath.Join("testdata", "notes", folder, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name := filepath.Base(f)
			if other, ok := written[name]; ok && (folder == noiseFolder || other == noiseFolder) {
				t.Errorf("%s is in %s and in %s: shown notes are identified by name", name, other, folder)
			}
			written[name] = folder
		}
	}
	about := 0
	wanted := map[string]bool{}
	for _, c := range calls {
		if len(c.Notes) > 0 {
			about++
		}
		for _, name := range slices.Concat(c.Notes, c.Also) {
			if _, err := os.Stat(filepath.Join("testdata", "notes", c.Project, name)); err != nil {
				t.Error(err)
			}
		}
		for _, name := range c.Notes {
			wanted[c.Project+"/"+name] = true
		}
	}
	if len(calls) != 137 || about != 77 {
		t.Errorf("%d calls, %d of them about a note", len(calls), about)
	}
	if len(wanted) < 60 {
		t.Errorf("%d notes are relevant to a call", len(wanted))
	}
}

// Shown notes are detected by their file names, so notes must not mention file names.
func TestNotesMentionNoNotes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "notes", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	mention := regexp.MustCompile(`/[a-z0-9-]+\.md\b`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if m := mention.Find(text); m != nil {
			t.Errorf("%s mentions %s", f, m)
		}
	}
}

func TestFailuresData(t *testing.T) {
	all, err := readFailures(filepath.Join("testdata", "failures.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var with, without int
	seen := map[string]bool{}
	manuals := slices.Concat(docSets, furtherSets)
	for _, f := range all {
		if seen[f.name] {
			t.Errorf("%s occurs twice", f.name)
		}
		seen[f.name] = true
		if f.set == "" {
			without++
			continue
		}
		with++
		if !slices.ContainsFunc(manuals, func(m manual) bool { return m.name == f.set }) {
			t.Errorf("%s: unknown manual %q", f.name, f.set)
		}
	}
	if with < 60 || without < 25 {
		t.Errorf("%d failures with pages, %d without", with, without)
	}
}

// Each calibration search names its manual, as the hook requires, and has a known kind.
func TestCalibrationData(t *testing.T) {
	var searches []calibrationSearch
	for _, file := range calibrationFiles {
		read, err := eval.ReadLines[calibrationSearch](filepath.Join("testdata", filepath.Base(file.path)))
		if err != nil {
			t.Fatal(err)
		}
		searches = append(searches, read...)
	}
	seen := map[string]bool{}
	for _, s := range searches {
		if seen[s.Query] {
			t.Errorf("%q is there twice", s.Query)
		}
		seen[s.Query] = true
		if !slices.ContainsFunc(calibrationKinds, func(k kind) bool { return k.name == s.Kind }) {
			t.Errorf("%q: kind %q", s.Query, s.Kind)
		}
		if s.Answerable != (s.Kind != "web" && s.Kind != "version") {
			t.Errorf("%q: kind %q, answerable %t", s.Query, s.Kind, s.Answerable)
		}
		if _, err := s.answeredBy(nil); err != nil {
			t.Errorf("%q: %v", s.Query, err)
		}
		if !slices.ContainsFunc(calibrationSets, func(m manual) bool { return m.name == s.Set }) {
			t.Errorf("%q: unknown manual %q", s.Query, s.Set)
		}
	}
}
