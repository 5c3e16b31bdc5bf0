package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/rules/check"
)

func newRouteTestCommand(a *app, rules func() (*load.Routes, error)) *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "test", Aliases: []string{"validate"},
		Short: "Run the tests in the rule files and lint the rules",
		Long: `Run the tests in the rule files and lint the rules. The linter reports rules that
never fire because earlier rules match the same calls, patterns that match every
call, and patterns that can take too long.

The exit code is 1 if a test fails, a rule is invalid, or a rule is suspicious.`,
		Args: noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error {
		routes, err := rules()
		if err != nil {
			return err
		}
		return a.testRules(routes, asJSON)
	})
}

// testJSON is the JSON output of test.
type testJSON struct {
	Tests      []testResultJSON `json:"tests"`
	Suspicious []findingJSON    `json:"suspicious"`
	Problems   []string         `json:"problems"`
	OK         bool             `json:"ok"`
}

type testResultJSON struct {
	Rule   string `json:"rule"`
	Origin string `json:"origin"`
	Line   int    `json:"line,omitempty"`
	Test   string `json:"test"`
	Passed bool   `json:"passed"`
	Want   string `json:"want,omitempty"`
	By     string `json:"by,omitempty"`
}

type findingJSON struct {
	Rule   string `json:"rule"`
	Origin string `json:"origin"`
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
}

func (a *app) testRules(routes *load.Routes, asJSON bool) error {
	out := testJSON{Tests: []testResultJSON{}, Suspicious: []findingJSON{},
		Problems: append([]string{}, routes.Problems...)}
	failed := 0
	for _, r := range check.Tests(routes.Rules) {
		t := testResultJSON{Rule: r.Rule.Name, Origin: r.Rule.Origin, Line: r.Test.Line, Test: r.Test.Text,
			Passed: r.Want == "", Want: r.Want}
		if t.Test == "" {
			t.Test = string(r.Test.Input)
		}
		if r.MatchedBy != nil {
			t.By = r.MatchedBy.Name
		}
		if !t.Passed {
			failed++
		}
		out.Tests = append(out.Tests, t)
	}
	for _, f := range check.Rules(routes.Rules) {
		out.Suspicious = append(out.Suspicious, findingJSON{f.Rule.Name, f.Rule.Origin, f.Rule.Line, f.Text})
	}
	out.OK = failed+len(out.Suspicious)+len(out.Problems) == 0
	var err error
	if asJSON {
		err = a.printJSON(out)
	} else {
		err = a.printTests(out, len(routes.Rules), failed)
	}
	return cmp.Or(err, failureIf(!out.OK))
}

func (a *app) printTests(out testJSON, rules, failed int) error {
	origin := ""
	for _, t := range out.Tests {
		if t.Origin != origin {
			origin = t.Origin
			fmt.Fprintln(a.stdout, origin)
		}
		by := ""
		if t.By != "" && t.By != t.Rule {
			by = " (rule " + t.By + ")"
		}
		if t.Passed {
			fmt.Fprintf(a.stdout, "  ok    %s: %s%s\n", t.Rule, t.Test, by)
		} else {
			fmt.Fprintf(a.stdout, "  FAIL  %s: %s\n        line %d: want %s%s\n", t.Rule, t.Test, t.Line, t.Want, by)
		}
	}
	for _, f := range out.Suspicious {
		fmt.Fprintf(a.stdout, "suspicious: %s:%d: %s: %s\n", f.Origin, f.Line, f.Rule, f.Text)
	}
	_, err := fmt.Fprintf(a.stdout, "%s, %s: %d failed, %d suspicious\n", count(rules, "rule"),
		count(len(out.Tests), "test"), failed, len(out.Suspicious))
	return err
}
