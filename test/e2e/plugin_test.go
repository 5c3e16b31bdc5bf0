//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The plugin and its marketplace are valid for each client. The oldest client
// has no strict validation.
func TestPluginIsValid(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := newSession(t, version)
			for _, dir := range []string{filepath.Join(root(t), "plugin"), root(t)} {
				args := []string{"plugin", "validate", "--strict", dir}
				if version == "2.0.30" {
					args = []string{"plugin", "validate", dir}
				}
				s.claude(t, noModel, args...) // fails the test if the client fails
			}
		})
	}
}

// Without a program, the plugin tells the user once at the start of a session, and the
// agent does not see its skill. With one, the agent sees the skill again.
func TestPluginWithoutProgram(t *testing.T) {
	for _, installed := range []string{"/usr/local/bin/docsearch", "/opt/homebrew/bin/docsearch"} {
		if _, err := exec.LookPath(installed); err == nil {
			t.Skipf("skipped: %s is there", installed)
		}
	}
	const message, skill = "the plugin found no docsearch program", "docsearch:local-docs"
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s, dir := newSession(t, version), pluginWithoutProgram(t)
			ask := func() (seen string, messages int) {
				m := newModel(t, func(conversation) reply { return say("Done.") })
				r := s.ask(t, m, "Begin.", "--plugin-dir", dir)
				if len(m.requests) == 0 {
					t.Fatalf("the model was not asked; the client said\n%s", r)
				}
				first := m.requests[0]
				for _, tool := range first.Tools {
					seen += tool.Name + " " + tool.Description + "\n"
				}
				for line := range strings.Lines(r.stdout) {
					if strings.Contains(line, message) {
						messages++
					}
				}
				return seen + first.text(), messages
			}
			for i, shown := range []bool{version == "2.0.30", false} { // it cannot reload skills
				seen, messages := ask()
				if got := strings.Contains(seen, skill); got != shown {
					t.Errorf("session %d without a program: the agent sees the skill: %t, want %t", i, got, shown)
				}
				if version != "2.0.30" && messages != 1 { // it prints none
					t.Errorf("session %d without a program: %d messages, want 1", i, messages)
				}
			}
			s.setenv("PATH", filepath.Dir(program(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
			ask() // renames the skill's file
			if seen, messages := ask(); !strings.Contains(seen, skill) || messages > 0 {
				t.Errorf("with a program: %d messages; the agent sees\n%s", messages, seen)
			}
		})
	}
}

// The skills of the plugin are slash commands that take arguments.
func TestSkillCommands(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			for command, want := range map[string]string{
				"/docsearch:docs-search how do widgets spin": "The question: how do widgets spin",
				"/docsearch:note-coverage commits.md":        "Note, or empty for all notes: commits.md",
			} {
				s := newSession(t, version)
				m := newModel(t, func(conversation) reply { return say("Done.") })
				r := s.ask(t, m, command, "--plugin-dir", pluginWithProgram(t))
				text := m.last(t).text()
				if !strings.Contains(text, want) || strings.Contains(text, "${CLAUDE_PLUGIN_ROOT}") {
					t.Errorf("%s: the model saw\n%s\nthe client said\n%s", command, text, r)
				}
			}
		})
	}
}
