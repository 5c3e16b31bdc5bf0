package eval

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMeasure(t *testing.T) {
	second := 1 / math.Log2(3)
	for _, tt := range []struct {
		name        string
		ranked, all []int
		want        Measures
	}{
		{"the best first", []int{2, 0, 0}, []int{2}, Measures{NDCG10: 1, MRR10: 1, Recall5: 1, Success1: 1, Success5: 1}},
		{"second", []int{0, 1}, []int{1}, Measures{NDCG10: second, MRR10: .5, Recall5: 1, Success5: 1}},
		{"two grades, the wrong way round", []int{1, 2}, []int{2, 1}, Measures{NDCG10: (1 + 3*second) / (3 + second), MRR10: 1, Recall5: 1, Success1: 1, Success5: 1}},
		{"sixth", []int{0, 0, 0, 0, 0, 1}, []int{1, 1}, Measures{NDCG10: 1 / math.Log2(7) / (1 + second), MRR10: 1. / 6}},
		{"eleventh", []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, []int{1}, Measures{}},
		{"nothing", nil, []int{1}, Measures{}},
		{"nothing relevant", []int{0}, []int{0}, Measures{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Queries = 1
			if diff := cmp.Diff(tt.want, Measure(tt.ranked, tt.all), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("measures (-want +got)\n%s", diff)
			}
		})
	}
}

func TestMean(t *testing.T) {
	got := Mean([]Measures{{NDCG10: 1, Success1: 1, Queries: 1}, {NDCG10: .5, Queries: 1}})
	if diff := cmp.Diff(Measures{NDCG10: .75, Success1: .5, Queries: 2}, got); diff != "" {
		t.Errorf("mean (-want +got)\n%s", diff)
	}
	if got := Mean(nil); got != (Measures{}) {
		t.Errorf("mean of nothing: %+v", got)
	}
}

func TestRanked(t *testing.T) {
	q := Query{Targets: []Target{{"a", "x", 2}, {"a", "y", 1}, {"b", "", 1}, {"c", "z", 2}}}
	for _, tt := range []struct {
		name            string
		places          []Place
		pages, sections []int
	}{
		{"each where it is", []Place{{"a", []string{"x"}}, {"b", []string{"any"}}, {"c", []string{"z"}}}, []int{2, 1, 2}, []int{2, 1, 2}},
		{"a page counts once", []Place{{"a", []string{"w"}}, {"a", []string{"x"}}, {"c", nil}}, []int{2, 2}, []int{0, 2, 0}},
		{"a target counts once", []Place{{"a", []string{"x"}}, {"a", []string{"x"}}, {"b", nil}, {"b", nil}}, []int{2, 1}, []int{2, 0, 1, 0}},
		{"the best of several anchors", []Place{{"a", []string{"w", "y", "x"}}, {"a", []string{"y"}}}, []int{2}, []int{2, 0}},
		{"other pages", []Place{{"d", []string{"x"}}, {"", nil}}, []int{0, 0}, []int{0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pages, all := q.RankedPages(tt.places)
			if diff := cmp.Diff(tt.pages, pages); diff != "" || len(all) != 3 {
				t.Errorf("pages of %d (-want +got)\n%s", len(all), diff)
			}
			sections, all := q.RankedSections(tt.places)
			if diff := cmp.Diff(tt.sections, sections); diff != "" || len(all) != 4 {
				t.Errorf("sections of %d (-want +got)\n%s", len(all), diff)
			}
		})
	}
	classic := Query{Grades: map[string]int{"1": 2, "3": 1}}
	ranked, all := classic.Ranked([]string{"3", "2", "3", "1", "1"})
	if diff := cmp.Diff([]int{1, 0, 2}, ranked); diff != "" || len(all) != 2 {
		t.Errorf("documents of %d (-want +got)\n%s", len(all), diff)
	}
	if m := Measure(classic.Ranked([]string{"1", "1", "3", "3"})); m.NDCG10 != 1 {
		t.Errorf("several passages of each document: nDCG %v", m.NDCG10)
	}
}

func TestIdentifierForms(t *testing.T) {
	for _, tt := range []struct{ name, last, words string }{
		{"os.path.join", "join", "os path join"},
		{"http.IncomingMessage", "IncomingMessage", "http incoming message"},
		{"CMAKE_BUILD_TYPE", "CMAKE_BUILD_TYPE", "cmake build type"},
		{"std::vec::Vec", "Vec", "std vec vec"},
		{"json_agg()", "json_agg", "json agg"},
		{"sha256Sum", "sha256Sum", "sha256 sum"},
		{"git rebase", "rebase", "git rebase"},
		{"--", "--", ""},
	} {
		id := Identifier{Name: tt.name}
		if id.Last() != tt.last || id.Words() != tt.words {
			t.Errorf("%s: %q and %q, want %q and %q", tt.name, id.Last(), id.Words(), tt.last, tt.words)
		}
	}
}

func TestReadQueries(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("queries.jsonl", `{"id": "a", "text": "A"}

{"id": "b", "ds": "set", "text": "B", "targets": [["p.html", "x", 2]], "source": "s"}
{"id": "c", "text": "not judged"}
`)
	queries, err := ReadQueries(dir)
	want := []Query{{ID: "b", Text: "B", Set: "set", Source: "s", Targets: []Target{{"p.html", "x", 2}}}}
	if diff := cmp.Diff(want, queries); diff != "" || err != nil {
		t.Errorf("%v; queries (-want +got)\n%s", err, diff)
	}
	write("qrels.tsv", "a\t1\t1\na\t2\t0\nz\t1\t1\n")
	queries, err = ReadQueries(dir)
	want = append([]Query{{ID: "a", Text: "A", Grades: map[string]int{"1": 1}}}, want...)
	if diff := cmp.Diff(want, queries); diff != "" || err != nil {
		t.Errorf("%v; queries (-want +got)\n%s", err, diff)
	}
	write("qrels.tsv", "a 1 1\n")
	if _, err := ReadQueries(dir); err == nil || !strings.Contains(err.Error(), "qrels.tsv:1: ") {
		t.Errorf("judgements without tabs: %v", err)
	}
	write("identifiers.jsonl", `{"ds": "set", "identifier": "a.b", "page": "p.html", "anchor": "x"}`)
	identifiers, err := ReadIdentifiers(filepath.Join(dir, "identifiers.jsonl"))
	if diff := cmp.Diff([]Identifier{{"set", "a.b", "p.html", "x"}}, identifiers); diff != "" || err != nil {
		t.Errorf("%v; identifiers (-want +got)\n%s", err, diff)
	}
	if _, err := ReadIdentifiers(filepath.Join(dir, "none.jsonl")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}

func TestReadTargets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queries.jsonl")
	for target, valid := range map[string]bool{
		`["p", "a", 1]`: true, `[1, "a", 1]`: false, `["p", 1, 1]`: false, `["p", "a", "1"]`: false, `["p", "a"]`: false, `["p", "a", 1, 1]`: false,
	} {
		if err := os.WriteFile(file, []byte(`{"id": "b", "text": "B", "targets": [`+target+"]}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadQueries(filepath.Dir(file)); (err == nil) != valid {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// FuzzReadJudged checks that arbitrary files lead to queries or to an error with the
// line number.
func FuzzReadJudged(f *testing.F) {
	f.Add(`{"id": "a", "text": "A", "targets": [["p", "", 2]]}`, "a\t1\t1")
	f.Add(`{"id": 1}`, "")
	f.Add(`{"targets": [[1, 2]]}`, "a\tb")
	f.Fuzz(func(t *testing.T, queries, qrels string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"queries.jsonl": queries, "qrels.tsv": qrels} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		all, err := ReadQueries(dir)
		if err != nil {
			if !strings.Contains(err.Error(), ".jsonl:") && !strings.Contains(err.Error(), ".tsv:") {
				t.Errorf("the error names no line: %v", err)
			}
			return
		}
		for _, q := range all {
			if len(q.Grades)+len(q.Targets) == 0 {
				t.Errorf("query %q is not judged", q.ID)
			}
		}
	})
}
