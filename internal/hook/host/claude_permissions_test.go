package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/hook/event"
)

// The definition of a subagent keeps tools from it.
func TestAgentTools(t *testing.T) {
	const tool = "mcp__docsearch__search"
	for head, want := range map[string]struct{ withholds, runs bool }{
		"name: x":                {false, true},
		"tools:":                 {true, false},
		"tools: WebSearch, Read": {true, false},
		"tools: '*'":             {false, true},
		"tools: WebSearch, mcp__docsearch__search":                              {false, false},
		"tools: [\"mcp__docsearch\", 'Bash']":                                   {false, true},
		"tools:\n  - WebSearch\n  - Bash(git:*)\nmodel: opus\n- mcp__docsearch": {true, true},
		"tools:\r\n  - mcp__docsearch__*\r":                                     {false, false},
		"disallowedTools: mcp__docsearch__search, Bash":                         {true, false},
		"disallowedTools:\n- mcp__docsearch":                                    {true, true},
	} {
		for _, folder := range []string{"home", "p"} {
			dir := t.TempDir()
			agents := filepath.Join(dir, folder, ".claude", "agents")
			if err := os.MkdirAll(agents, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(agents, "helper.md"), []byte("---\n"+head+"\n---\ntools: none\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(dir, "home")
			getenv := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
			e := &event.Event{Host: event.Claude, Cwd: filepath.Join(dir, "p"), AgentType: "helper"}
			p := PermissionsOf(e, getenv)
			if p.Withholds(tool) != want.withholds || p.Runs("docsearch search", true) != want.runs {
				t.Errorf("%s: %q: withholds %t, runs %t; want %+v", folder, head, p.Withholds(tool), p.Runs("docsearch search", true), want)
			}
			for _, other := range []string{"", "../agents/helper", "plugin:helper", "other"} {
				e.AgentType = other
				if p := PermissionsOf(e, getenv); p.Withholds(tool) {
					t.Errorf("agent %q has the tools of another: %q", other, head)
				}
			}
		}
	}
}

// The definition of a subagent of a plugin is in the folder that Claude Code's list names.
func TestPluginAgentTools(t *testing.T) {
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quoted := func(path string) string {
		text, err := json.Marshal(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write("home/.claude/plugins/installed_plugins.json", `{"version": 2, "plugins": {
		"kit@market": [
			{"scope": "project", "installPath": `+quoted("elsewhere")+`, "projectPath": "/elsewhere"},
			{"scope": "user", "installPath": `+quoted("kit")+`},
			{"scope": "project", "installPath": `+quoted("kit-p")+`, "projectPath": `+quoted("p")+`}],
		"first@market": {"installPath": `+quoted("first")+`}}}`)
	const limited, full = "---\ntools: WebSearch\n---\n", "---\nname: x\n---\n"
	write("kit/agents/reader.md", limited)
	write("kit/agents/review/strict.md", limited)
	write("kit/agents/both.md", limited)
	write("kit-p/agents/both.md", full)
	write("elsewhere/agents/other.md", limited)
	write("first/agents/reader.md", limited)
	write("p/.claude/agents/kit.md", limited)
	home := filepath.Join(dir, "home")
	getenv := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	for agent, want := range map[string]bool{
		"kit:reader": true, "kit:review:strict": true, "kit:both": false, "kit:other": false, "kit:none": false,
		"first:reader": true, "none:reader": false, "kit:../agents/reader": false, "kit:..:agents:reader": false, "kit:": false, ":reader": false,
	} {
		p := PermissionsOf(&event.Event{Host: event.Claude, Cwd: filepath.Join(dir, "p"), AgentType: agent}, getenv)
		if got := p.Withholds("mcp__docsearch__search"); got != want {
			t.Errorf("%s: withholds %t, want %t", agent, got, want)
		}
	}
}

// A rule of the settings allows or denies a command by its start.
func TestRuns(t *testing.T) {
	for _, test := range []struct {
		allow, deny   string
		asks, unasked bool
	}{
		{"", "", true, false},
		{"Bash", "", true, true},
		{"Bash(*)", "", true, true},
		{"Bash(docsearch search:*)", "", true, true},
		{"Bash(docsearch search *)", "", true, true},
		{"Bash(docsearch:*)", "", true, true},
		{"Bash(docs:*)", "", true, false},
		{"Bash(docsearch search)", "", true, false},
		{"Bash(docsearch search --db x:*)", "", true, false},
		{"BashOutput", "", true, false},
		{"Bash", "Bash(docsearch:*)", false, false},
		{"Bash", "Bash(rm:*)", true, true},
		{"", "Bash", false, false},
	} {
		p := Permissions{allow: []string{test.allow}, deny: []string{test.deny}}
		if asks, unasked := p.Runs("docsearch search", true), p.Runs("docsearch search", false); asks != test.asks || unasked != test.unasked {
			t.Errorf("%+v: %t, %t", test, asks, unasked)
		}
	}
}
