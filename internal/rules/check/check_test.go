package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
)

// The example rules pass their own tests and have no findings.
func TestExamples(t *testing.T) {
	paths, err := filepath.Glob(filepath.FromSlash("../../../testdata/routes/*"))
	if err != nil || len(paths) < 4 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			routes := load.LoadRouteFiles([]string{path})
			if len(routes.Problems) > 0 {
				t.Errorf("problems %q", routes.Problems)
			}
			results := Tests(routes.Rules)
			for _, r := range results {
				if r.Want != "" {
					t.Errorf("%s: %s (line %d): want %s", r.Rule.Name, r.Test.Text, r.Test.Line, r.Want)
				}
				if r.Test.Line == 0 {
					t.Errorf("%s: %s: no line", r.Rule.Name, r.Test.Text)
				}
			}
			if len(results) < 2*len(routes.Rules)-3 {
				t.Errorf("%d tests of %d rules", len(results), len(routes.Rules))
			}
			for _, f := range Rules(routes.Rules) {
				t.Errorf("odd: %s: %s", f.Rule.Name, f.Text)
			}
		})
	}
}

// readRules reads rules as from a file.
func readRules(t *testing.T, text string) []config.Rule {
	t.Helper()
	path := filepath.Join(t.TempDir(), "routes.json")
	writeFile(t, path, text)
	routes := load.LoadRouteFiles([]string{path})
	if len(routes.Problems) > 0 {
		t.Fatal(routes.Problems)
	}
	return routes.Rules
}

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing odd", `{"a": {"command_pattern": "^git\\s+commit\\s+-m", "message": "m"}, "b": {"command_pattern": "^git\\s+commit", "message": "m"}, "c": {"tool": "Bash", "pattern": "git", "message": "m"}}`, nil},
		{"shadowed", `{"a": {"command_pattern": "git\\s+commit", "message": "m"}, "b": {"command_pattern": "git\\s+commit\\s+-m", "message": "m"}}`,
			[]string{`b: never fires: earlier rule a matches "git\t\tcommit\t\t-m"`}},
		{"shadowed by a rule for all of a tool", `{"a": {"tool": "Bash", "message": "m"}, "b": {"command_pattern": "x", "message": "m"}}`,
			[]string{`b: never fires: earlier rule a matches "x"`}},
		{"shadowed except for an exception", `{"a": {"command_pattern": "git", "unless": "commit", "message": "m"}, "b": {"command_pattern": "git\\s+commit", "message": "m"}}`, nil},
		{"not shadowed, as its test tells", `{"a": {"command_pattern": "x", "message": "m"}, "b": {"command_pattern": "[x-z]x?", "message": "m", "tests": [{"input": "y", "expect": "deny"}]}}`, nil},
		{"for another tool", `{"a": {"tool": "WebFetch", "command_pattern": "x", "message": "m"}}`,
			[]string{"a: never fires: it applies to WebFetch, but its command_pattern to Bash"}},
		{"matches all", `{"a": {"pattern": ".*", "message": "m"}}`, []string{"a: its pattern matches every WebFetch call"}},
		{"matches all commands", `{"a": {"command_pattern": "^(?!sudo)", "message": "m"}}`, []string{"a: its pattern matches every Bash call"}},
		{"a whole tool, on purpose", `{"a": {"tool": "WebSearch", "message": "m"}}`, nil},
		{"slow", `{"a": {"command_pattern": "^(\\w+\\s?)+$", "message": "m"}}`,
			[]string{"a: pattern \"^(\\\\w+\\\\s?)+$\" takes longer than 50ms on \"xxxxxxxx...\""}},
		{"slow exception", `{"a": {"command_pattern": "make", "unless": ["(x+x+)+y"], "message": "m"}}`,
			[]string{"a: pattern \"(x+x+)+y\" takes longer than 50ms on \"xxxxxxxx...\""}},
		{"square is not slow", `{"a": {"command_pattern": "git\\s+.*-m.*-m", "message": "m"}}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range Rules(readRules(t, `{"routes": `+test.text+`}`)) {
				got = append(got, f.Rule.Name+": "+f.Text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTests(t *testing.T) {
	list := readRules(t, `{"routes": {
		"first": {"command_pattern": "rm\\s+(-\\w+)", "message": "no rm $1", "tests": [
			{"desc": "passes", "input": "rm -rf x", "expect": "block", "contains": "rm -rf"},
			{"desc": "is not denied", "input": "ls", "expect": "deny"},
			{"desc": "has another message", "input": "rm -f x", "expect": "deny", "contains": ["rm -f", "trash"]},
			{"desc": "another rule's", "input": "dd of=x", "expect": "ask", "rule": "first"}
		]},
		"second": {"command_pattern": "^dd\\b", "action": "ask", "message": "sure?", "tests": [
			{"desc": "asks", "input": "dd of=x", "expect": "ask"},
			{"desc": "is taken by the first", "input": "dd x; rm -r", "expect": "ask"}
		]}}}`)
	want := map[string]string{
		"passes": "", "is not denied": "deny, got pass", "has another message": `a message with "trash"`,
		"another rule's": "rule first", "asks": "", "is taken by the first": "ask, got deny",
	}
	got := map[string]string{}
	for _, r := range Tests(list) {
		got[r.Test.Text] = r.Want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", strings.TrimSpace(diff))
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
