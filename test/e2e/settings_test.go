//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The client ignores exactly those settings files that install reports as
// ignored.
func TestIgnoredSettings(t *testing.T) {
	const handler = `{"type": "command", "command": "touch '%s'"}`
	for _, version := range versions {
		for name, layout := range map[string]string{
			"plain":           `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}]}}`,
			"comment":         `{ /* mine */ "hooks": {"SessionStart": [{"hooks": [` + handler + `]}]}}`,
			"trailing comma":  `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}]},}`,
			"byte order mark": "\ufeff" + `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}]}}`,
			"no command":      `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "Stop": [{"hooks": [{"type": "command"}]}]}}`,
			"no hooks":        `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "Stop": [{"type": "command", "command": "true"}]}}`,
			"matcher":         `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "PreToolUse": [{"matcher": ["Bash"], "hooks": []}]}}`,
			"timeout":         `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": "5"}]}]}}`,
			"shell":           `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "Stop": [{"hooks": [{"type": "command", "command": "true", "shell": "fish"}]}]}}`,
			"unknown event":   `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "Foo": []}}`,
			"event object":    `{"hooks": {"SessionStart": [{"hooks": [` + handler + `]}], "Foo": {}}}`,
			"permissions":     `{"permissions": {"allow": "Read"}, "hooks": {"SessionStart": [{"hooks": [` + handler + `]}]}}`,
			"unknown key":     `{"foo": [1], "hooks": {"SessionStart": [{"foo": 1, "hooks": [` + handler + `]}]}}`,
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				s := newSession(t, version)
				mark := filepath.Join(s.home, "mark")
				s.write(t, s.settings(), fmt.Sprintf(layout, mark))
				r := s.ask(t, newModel(t, func(conversation) reply { return say("Done.") }), "Begin.")
				_, err := os.Stat(mark)
				cmd := exec.CommandContext(t.Context(), program(t), "install", "--dry-run")
				cmd.Dir, cmd.Env = s.project, s.env
				out, installErr := cmd.CombinedOutput()
				ignored := installErr != nil && strings.Contains(string(out), "Claude Code ignores the whole file: ")
				if ran := err == nil; ran == ignored {
					t.Errorf("the client ran the hook: %t; install says %q; the client said %.300s", ran, out, r.stderr)
				}
			})
		}
	}
}
