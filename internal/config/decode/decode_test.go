package decode

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
)

// decoded decodes routes in JSON, sorted by key.
func decoded(t *testing.T, text string) ([]config.Rule, []string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	r := Routes{Origin: "/r.json", Value: v, Line: func(...string) int { return 0 }}
	if m, ok := v.(map[string]any); ok {
		r.Names = slices.Sorted(maps.Keys(m))
	}
	rules, problems := Rules(r)
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return rules, lines
}

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []config.Rule
	}{
		{"first form", `{"a": {"pattern": "x ", "message": "m"}, "_comment": "c", "b": {"tool_pattern": "Bash", "command_pattern": "y", "message": "m"}}`, []config.Rule{
			{Name: "a", Pattern: config.Pattern{Text: "x "}, Action: config.ActionDeny, Message: "m"},
			{Name: "b", Tools: []string{"Bash"}, CommandPattern: config.Pattern{Text: "y"}, Action: config.ActionDeny, Message: "m"},
		}},
		{"everything", `[{"name": "a", "description": "d", "tool": "Bash", "tool_pattern": "mcp__x", "pattern": "p", "command_pattern": "c", "unless": " u ", "commands": "parsed",
			"action": "Warn", "message": "m", "limit": 3, "rate": " 10 / 1m30s", "_database": "db"}]`, []config.Rule{
			{Name: "a", Tools: []string{"Bash"}, ToolPattern: config.Pattern{Text: "mcp__x"}, Pattern: config.Pattern{Text: "p"}, CommandPattern: config.Pattern{Text: "c"},
				Unless: []config.Pattern{{Text: " u "}}, Parsed: true, Action: config.ActionWarn, Message: "m", Limit: 3, Rate: config.Rate{Calls: 10, Seconds: 90}},
		}},
		{"names of tools", `{"a": {"tool_pattern": "edit|Write|TodoWrite", "message": "m"}, "b": {"tool_pattern": "mcp__github", "message": "m"}, "c": {"tool_pattern": "Edit|", "message": "m"}}`, []config.Rule{
			{Name: "a", Tools: []string{"Edit", "Write", "TodoWrite"}, Action: config.ActionDeny, Message: "m"},
			{Name: "b", ToolPattern: config.Pattern{Text: "mcp__github"}, Action: config.ActionDeny, Message: "m"},
			{Name: "c", ToolPattern: config.Pattern{Text: "Edit|"}, Action: config.ActionDeny, Message: "m"},
		}},
		{"a database needs no message", `{"a": {"tool": "WebFetch", "database": "db"}}`, []config.Rule{
			{Name: "a", Tools: []string{"WebFetch"}, Action: config.ActionDeny, Database: "db"},
		}},
		{"a list without names", `[{"pattern": "x", "message": "m"}]`, []config.Rule{
			{Name: "r.json[0]", Pattern: config.Pattern{Text: "x"}, Action: config.ActionDeny, Message: "m"},
		}},
		{"tests", `{"a": {"command_pattern": "x", "message": "m", "tests": [
			{"desc": "d", "input": {"tool_name": "Bash", "tool_input": {"command": "x"}}, "expect": "block", "contains": "m"},
			{"input": "y", "expect": "allow", "contains": ["m", "n"], "rule": "a"}]}}`, []config.Rule{
			{Name: "a", CommandPattern: config.Pattern{Text: "x"}, Action: config.ActionDeny, Message: "m", Tests: []config.RuleTest{
				{Text: "d", Tool: "Bash", Input: config.Raw(`{"command":"x"}`), Expect: config.ActionDeny, Contains: []string{"m"}},
				{Tool: "Bash", Input: config.Raw(`{"command":"y"}`), Expect: config.ActionPass, Contains: []string{"m", "n"}, Rule: "a"},
			}},
		}},
		{"none", `null`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, problems := decoded(t, test.text)
			for i := range test.want {
				test.want[i].Origin = "/r.json"
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(problems) > 0 {
				t.Errorf("problems %q", problems)
			}
		})
	}
}

func TestProblemsOfRules(t *testing.T) {
	for _, test := range []struct {
		text string
		left int // usable rules
		want []string
	}{
		{`"x"`, 0, []string{`routes: want an object that maps names to rules, got "x"; ignored`}},
		{`{"a": 1}`, 0, []string{`routes.a: want a rule with a "pattern" and a "message", got 1; the rule is ignored`}},
		{`{"a": {"message": "m"}}`, 0, []string{"routes.a: pattern: want a pattern of a URL, a command, or a tool, got nothing; the rule is ignored"}},
		{`{"a": {"pattern": 1, "message": "m"}}`, 0, []string{"routes.a: pattern: want a pattern, got 1; the rule is ignored"}},
		{`{"a": {"pattern": "x"}}`, 1, []string{"routes.a: message: want a message that names an alternative, got nothing; using a default message"}},
		{`{"a": {"pattern": "x", "message": "m", "action": "block"}}`, 0, []string{`routes.a: action: want "deny", "warn", "ask" or "allow", got "block"; the rule is ignored`}},
		{`{"a": {"command_pattern": "x", "action": "allow", "message": "m", "limit": 2}}`, 1, []string{
			`routes.a: message: want no message in a rule that allows, got "m"; ignored`,
			`routes.a: limit: want no limit in a rule that allows, got 2; ignored`,
		}},
		{`{"a": {"pattern": "x", "message": "m", "commands": "split"}}`, 1, []string{`routes.a: commands: want "written" or "parsed", got "split"; using "written"`}},
		{`{"a": {"command_pattern": "x", "action": "allow", "rate": "1/s"}}`, 1, []string{
			`routes.a: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got "1/s"; no rate`,
			`routes.a: rate: want no rate in a rule that allows, got "1/s"; ignored`,
		}},
		{`{"a": {"pattern": "x", "message": "m", "rate": 3}, "b": {"pattern": "x", "message": "m", "rate": "0/5m"}, "c": {"pattern": "x", "message": "m", "rate": "1001/5m"}, "d": {"pattern": "x", "message": "m", "rate": "1/25h"}, "e": {"pattern": "x", "message": "m", "rate": "1/10ms"}, "f": {"pattern": "x", "message": "m", "rate": "1"}}`, 6, []string{
			`routes.a: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got 3; no rate`,
			`routes.b: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got "0/5m"; no rate`,
			`routes.c: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got "1001/5m"; no rate`,
			`routes.d: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got "1/25h"; no rate`,
			`routes.e: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got "1/10ms"; no rate`,
			`routes.f: rate: want a number of calls and a period from 1s to 24h, as in "10/5m", got "1"; no rate`,
		}},
		{`{"a": {"pattern": "x", "database": "db", "rate": "1/5m"}}`, 1, []string{`routes.a: rate: want no rate in a rule with a database, got "1/5m"; ignored`}},
		{`{"a": {"pattern": "x", "message": "m", "limit": 0}}`, 1, []string{"routes.a: limit: want a whole number from 1, got 0; no limit"}},
		{`{"a": {"pattern": "x", "message": "m", "unless": ["y", 2]}}`, 0, []string{"routes.a: unless: want a pattern or a list of patterns, got 2; the rule is ignored"}},
		{`{"a": {"pattern": "x", "mesage": "m", "message": "m"}}`, 1, []string{`routes.a: mesage: unknown key, ignored; did you mean "message"?`}},
		{`{"a": {"pattern": "x", "message": "m", "tests": {}}}`, 1, []string{"routes.a: tests: want a list of tests, got an object; ignored"}},
		{`{"a": {"pattern": "x", "message": "m", "tests": [1, {"input": "x"}, {"expect": "deny"}, {"expect": "deny", "input": {"tool_name": "Bash"}}]}}`, 1, []string{
			`routes.a: tests[0]: want a test with "input" and "expect", got 1; the test is ignored`,
			`routes.a: tests[1]: want "expect" to be "deny" (or "block"), "warn", "ask" or "pass" (or "allow"), got nothing; the test is ignored`,
			`routes.a: tests[2]: want "input" to be a tool call, a URL, or a command, got nothing; the test is ignored`,
			`routes.a: tests[3]: want "input" to be a tool call, a URL, or a command, got an object; the test is ignored`,
		}},
		{`{"a": {"tool_pattern": "mcp__x", "message": "m", "tests": [{"input": "x", "expect": "deny"}]}}`, 1, []string{
			`routes.a: tests[0]: want "input" to be a tool call, a URL, or a command, got "x"; the test is ignored`,
		}},
	} {
		rules, problems := decoded(t, test.text)
		if diff := cmp.Diff(test.want, problems); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
		if len(rules) != test.left {
			t.Errorf("%s: %d rules, want %d", test.text, len(rules), test.left)
		}
	}
}

func TestNearest(t *testing.T) {
	keys := []string{"name", "keywords", "path", "description", "mcp_tool_name", "urls", "mode"}
	for word, want := range map[string]string{
		"keyword": "keywords", "KEYWORDS": "", "keywrods": "keywords", "pth": "path", "paht": "path", "desc": "",
		"mcp_tool": "", "mcp_toolname": "mcp_tool_name", "url": "urls", "model": "mode", "x": "", "": "",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
