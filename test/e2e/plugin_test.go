//go:build e2e

package e2e

import (
	"errors"
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

// A plugin without a program reports that, and denies nothing.
func TestPluginWithoutProgram(t *testing.T) {
	for _, installed := range []string{"/usr/local/bin/docsearch", "/opt/homebrew/bin/docsearch"} {
		if _, err := exec.LookPath(installed); err == nil {
			t.Skipf("skipped: %s is there", installed)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("skipped: sh not found")
	}
	cmd := exec.CommandContext(t.Context(), sh, filepath.Join(pluginWithoutProgram(t), "scripts", "docsearch"), "hook")
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "the plugin found no docsearch program") {
		t.Errorf("it ended with %v and said %q", err, out)
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
