package agentconfig

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config/decode"
)

// The permissions come with an install and go with an uninstall, whatever the layout.
func TestPermissions(t *testing.T) {
	c := testClaude(t)
	c.Permit = true
	for name, before := range layouts {
		if decode.CheckJSON([]byte(strings.TrimPrefix(before, bom))) != nil && strings.TrimSpace(before) != "" {
			continue
		}
		write(t, c.Settings(User), before)
		removeBackups(t, c, User)
		apply(t, planOf(t)(c.Install(User, ProgramAt(program))))
		if text := read(t, c.Settings(User)); !c.HasPermissions(User) || strings.Count(text, `"mcp__docsearch__search"`) != 1 {
			t.Errorf("%s: no permissions:\n%s", name, text)
		}
		if plan := planOf(t)(c.Install(User, ProgramAt(program))); len(plan) > 0 {
			t.Errorf("%s: a second install would change %v", name, paths(plan))
		}
		apply(t, planOf(t)(c.Uninstall(User)))
		if diff := cmp.Diff(before, read(t, c.Settings(User))); diff != "" {
			t.Errorf("%s: not as it was (-before +after):\n%s", name, diff)
		}
	}
}

// The rules of a person stay, and decide.
func TestPermissionsBesideRules(t *testing.T) {
	const ours = `"mcp__docsearch__list_databases", "mcp__docsearch__read", "mcp__docsearch__search"`
	for _, test := range []struct{ before, installed, left string }{
		{`{"permissions": {"allow": ["Bash(ls)"]}}`, `["Bash(ls)", ` + ours + `]`, `{"permissions": {"allow": ["Bash(ls)", "WebFetch"]}}`},
		{`{"permissions": {"deny": ["Bash(rm)"]}}`, `[` + ours + `]`, `{"permissions": {"deny": ["Bash(rm)"], "allow": ["WebFetch"]}}`},
		{`{"permissions": {"deny": ["mcp__docsearch"]}}`, "", `{"permissions": {"deny": ["mcp__docsearch"]}}`},
		{`{"permissions": {"allow": ["mcp__docsearch__*"]}}`, `["mcp__docsearch__*"]`, `{"permissions": {"allow": ["mcp__docsearch__*", "WebFetch"]}}`},
		{`{"permissions": {"ask": ["mcp__docsearch__search"]}}`, "", `{"permissions": {"ask": ["mcp__docsearch__search"]}}`},
		{`{"permissions": {"allow": ["mcp__docsearch2__search"]}}`, `["mcp__docsearch2__search", ` + ours + `]`,
			`{"permissions": {"allow": ["mcp__docsearch2__search", "WebFetch"]}}`},
	} {
		c := testClaude(t)
		c.Permit = true
		write(t, c.Settings(User), test.before)
		apply(t, planOf(t)(c.Install(User, ProgramAt(program))))
		allowed := func() []string {
			rules, _ := valuesOf(c.Settings(User))["permissions"].(map[string]any)
			return stringsOf(rules["allow"])
		}
		var want []string
		for rule := range strings.SplitSeq(strings.Trim(test.installed, "[]"), ", ") {
			if rule != "" {
				want = append(want, strings.Trim(rule, `"`))
			}
		}
		if got := allowed(); !slices.Equal(got, want) {
			t.Errorf("%s: install permits %q, want %q", test.before, got, want)
		}
		// A later rule of a person is in the file, which is then not the one of the install.
		if len(want) > 0 {
			text := read(t, c.Settings(User))
			last := `"` + want[len(want)-1] + `"`
			write(t, c.Settings(User), strings.Replace(text, last, last+`, "WebFetch"`, 1))
		}
		apply(t, planOf(t)(c.Uninstall(User)))
		if got, want := read(t, c.Settings(User)), test.left; !cmp.Equal(decoded("x.json", []byte(got)), decoded("x.json", []byte(want))) {
			t.Errorf("%s: uninstall leaves %s, want %s", test.before, got, want)
		}
	}
}

// A file that only has the permissions and the hook goes with them.
func TestPermissionsInNewFile(t *testing.T) {
	c := testClaude(t)
	c.Permit = true
	apply(t, planOf(t)(c.Install(User, ProgramAt(program))))
	apply(t, planOf(t)(c.Uninstall(User)))
	if _, err := os.Stat(c.Settings(User)); err == nil {
		t.Errorf("uninstall left %s", read(t, c.Settings(User)))
	}
}

// planOf returns a function that requires a plan without an error.
func planOf(t *testing.T) func([]*Change, error) []*Change {
	return func(plan []*Change, err error) []*Change {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
}
