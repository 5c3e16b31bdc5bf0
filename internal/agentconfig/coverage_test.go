package agentconfig

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
)

func TestWatches(t *testing.T) {
	web, own, start := "PreToolUse WebSearch|WebFetch", "PreToolUse mcp__docsearch__.*", "SessionStart "
	for _, test := range []struct {
		name     string
		coverage config.Coverage
		version  Version
		want     []string
	}{
		{"nothing configured", config.Coverage{}, Version{}, []string{web, own, start}},
		{"notes or rules", config.Coverage{Edits: true}, Version{}, []string{web, "PreToolUse Bash|Edit|MultiEdit|NotebookEdit|Write", own, start}},
		{"retries with evidence", config.Coverage{Lookups: true}, Version{}, []string{web, "PreToolUse Bash|ReadMcpResourceTool", own, start}},
		{"notes, and retries with evidence", config.Coverage{Edits: true, Lookups: true}, Version{}, []string{web, "PreToolUse Bash|Edit|MultiEdit|NotebookEdit|Write", "PreToolUse ReadMcpResourceTool", own, start}},
		{"other servers", config.Coverage{Servers: true}, Version{}, []string{web, "PreToolUse mcp__.*", start}},
		{"a database", config.Coverage{Failures: true, Subagents: true}, Version{}, []string{web, own, start, "SubagentStart ", "PostToolUseFailure Bash"}},
		{"an old client", config.Coverage{Failures: true, Subagents: true}, Version{2, 0, 30}, []string{web, own, start}},
	} {
		c := Claude{Server: "docsearch", Coverage: test.coverage, Version: test.version}
		var got []string
		for _, w := range c.registrations(User) {
			got = append(got, w.event+" "+w.matcher())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if len(c.registrations(Project)) < len(test.want) {
			t.Errorf("%s: the project's settings get fewer events than the user's", test.name)
		}
	}
	if w := registrations("my.docs", config.Coverage{})[1]; !matches(w.matcher(), "mcp__my.docs__search") || matches(w.matcher(), "mcp__my-docs__search") {
		t.Errorf("the matcher of the server my.docs is %q", w.matcher())
	}
}

// However the coverage changes, the settings are those of a single install, and
// uninstall restores the original.
func TestCoverageChanges(t *testing.T) {
	full := config.FullCoverage()
	for name, before := range layouts {
		if decode.CheckJSON([]byte(strings.TrimPrefix(before, bom))) != nil && strings.TrimSpace(before) != "" {
			continue // Claude Code ignores the file, and install refuses it
		}
		once := map[config.Coverage]string{}
		c := testClaude(t)
		for _, cov := range []config.Coverage{{}, full, {Failures: true, Subagents: true}, {Lookups: true}} {
			once[cov] = installed(t, c, before, cov)
			restore(t, c, name, before)
		}
		for _, steps := range [][]config.Coverage{
			{{}, full},
			{full, {}},
			{{Lookups: true}, full, {}, {Lookups: true}},
			{{}, {Failures: true, Subagents: true}, full, {Failures: true, Subagents: true}},
		} {
			installed(t, c, before, steps[0])
			for _, cov := range steps[1:] {
				c.Coverage = cov
				change, ok, err := c.Refresh()
				if err != nil || !ok || change == nil {
					t.Fatalf("%s: refresh = %v, %v, %v; want a change", name, change, ok, err)
				}
				apply(t, []*Change{change})
				if diff := cmp.Diff(once[cov], read(t, c.Settings(User))); diff != "" {
					t.Errorf("%s: %+v after a refresh (-install +refresh):\n%s", name, cov, diff)
				}
				if change, _, err := c.Refresh(); err != nil || change != nil {
					t.Errorf("%s: a second refresh changes %v, %v", name, change, err)
				}
			}
			restore(t, c, name, before)
		}
	}
}

// installed installs into settings and returns the result.
func installed(t *testing.T, c *Claude, settings string, cov config.Coverage) string {
	t.Helper()
	write(t, c.Settings(User), settings)
	c.Coverage = cov
	plan, err := c.Install(User, ProgramAt(program))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	return read(t, c.Settings(User))
}

func restore(t *testing.T, c *Claude, name, want string) {
	t.Helper()
	plan, err := c.Uninstall(User)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, plan)
	if diff := cmp.Diff(want, read(t, c.Settings(User))); diff != "" {
		t.Errorf("%s: uninstall does not restore the settings (-before +after):\n%s", name, diff)
	}
	removeBackups(t, c, User)
}

// An entry that a person has changed stays, whatever the coverage.
func TestRefreshKeepsChangedEntries(t *testing.T) {
	edits := "Bash|Edit|MultiEdit|NotebookEdit|Write"
	for name, change := range map[string]func(string) string{
		"matcher":     func(s string) string { return strings.Replace(s, edits, "Bash|Read", 1) },
		"timeout":     func(s string) string { return strings.ReplaceAll(s, `"timeout": 10`, `"timeout": 5`) },
		"another key": func(s string) string { return strings.ReplaceAll(s, `"timeout": 10`, `"timeout": 10, "timeout": 5`) },
	} {
		c := testClaude(t)
		changed := change(installed(t, c, "{}", config.Coverage{Edits: true}))
		write(t, c.Settings(User), changed)
		c.Coverage = config.Coverage{}
		plan, ok, err := c.Refresh()
		if err != nil || !ok || plan != nil {
			t.Errorf("%s: refresh = %v, %v, %v; want no change", name, plan, ok, err)
		}
		c.Coverage = config.FullCoverage()
		if plan, _, err = c.Refresh(); err != nil || plan == nil {
			t.Fatalf("%s: refresh = %v, %v; want a change", name, plan, err)
		}
		apply(t, []*Change{plan})
		d, err := parse([]byte(read(t, c.Settings(User))))
		if err != nil {
			t.Fatal(err)
		}
		hooks, err := hooksOf(d, Hook{})
		if err != nil {
			t.Fatal(err)
		}
		if missing := c.Uncovered(hooks); len(missing) > 0 {
			t.Errorf("%s: no entry for %q", name, missing)
		}
		kept := func(h Hook) bool { return strings.Contains(changed, h.Matcher) && h.Matcher != edits }
		if name == "matcher" && !slices.ContainsFunc(hooks, func(h Hook) bool { return kept(h) && h.Matcher == "Bash|Read" }) {
			t.Errorf("the changed matcher is gone: %+v", hooks)
		}
		if name != "matcher" && strings.Count(read(t, c.Settings(User)), `"timeout": 5`) != len(hooksIn(t, changed)) {
			t.Errorf("%s: changed entries are gone:\n%s", name, read(t, c.Settings(User)))
		}
	}
}

func hooksIn(t *testing.T, settings string) []Hook {
	t.Helper()
	d, err := parse([]byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := hooksOf(d, Hook{})
	if err != nil {
		t.Fatal(err)
	}
	return hooks
}

// Refresh installs nothing where the hook is not installed.
func TestRefreshWithoutHook(t *testing.T) {
	c := testClaude(t)
	for _, settings := range []string{"", "{}", settingsWith(t, "python3 docsearch.py", 5)} {
		write(t, c.Settings(User), settings)
		if change, ok, err := c.Refresh(); err != nil || ok || change != nil {
			t.Errorf("%q: refresh = %v, %v, %v; want none", settings, change, ok, err)
		}
	}
}

func TestUncovered(t *testing.T) {
	c := &Claude{Server: "docsearch", Coverage: config.FullCoverage()}
	for _, test := range []struct {
		name  string
		hooks []Hook
		want  []string
	}{
		{"nothing", nil, []string{"WebSearch", "WebFetch", "Bash", "Edit", "MultiEdit", "NotebookEdit", "Write", "ReadMcpResourceTool", "the MCP tools of other servers", "SessionStart"}},
		{"all tools", []Hook{{Event: "PreToolUse"}, {Event: "SessionStart"}}, nil},
		{"one of the late events", []Hook{{Event: "PreToolUse", Matcher: "*"}, {Event: "SessionStart"}, {Event: "SubagentStart"}}, []string{"PostToolUseFailure"}},
		{"a changed matcher", []Hook{{Event: "PreToolUse", Matcher: "Web.*|Bash|mcp__.*"}, {Event: "SessionStart"}}, []string{"Edit", "MultiEdit", "NotebookEdit", "Write", "ReadMcpResourceTool"}},
	} {
		if diff := cmp.Diff(test.want, c.Uncovered(test.hooks)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
