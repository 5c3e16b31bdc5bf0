package plugin

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Without a program, the script tells the user at the start of a session, and
// returns no decision about a call.
func TestWithoutProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the plugin does not support Windows")
	}
	for _, installed := range []string{"/usr/local/bin/docsearch", "/opt/homebrew/bin/docsearch"} {
		if _, err := exec.LookPath(installed); err == nil {
			t.Skipf("skipped: %s is there", installed)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("skipped: sh not found")
	}
	script, err := filepath.Abs("scripts/docsearch")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, command, event string
		message              bool
	}{
		{"start", "hook", `{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}`, true},
		{"start, other order", "hook", `{"source":"startup","hook_event_name":"SessionStart"}` + "\n", true},
		{"resumed", "hook", `{"hook_event_name":"SessionStart","source":"resume"}`, false},
		{"call", "hook", `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"startup"}}`, false},
		{"no event", "hook", "", false},
		{"server", "serve", `{"hook_event_name":"SessionStart","source":"startup"}`, false},
	} {
		cmd := exec.Command(sh, script, test.command)
		cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + t.TempDir()}
		cmd.Stdin = strings.NewReader(test.event)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "found no docsearch program") {
			t.Errorf("%s: %v, %s", test.name, err, &stderr)
		}
		var answer struct {
			Message string `json:"systemMessage"`
		}
		if !test.message {
			if len(out) > 0 {
				t.Errorf("%s: the script printed %s", test.name, out)
			}
			continue
		}
		if err := json.Unmarshal(out, &answer); err != nil || !strings.Contains(answer.Message, "make install") {
			t.Errorf("%s: %v, the script printed %s", test.name, err, out)
		}
	}
}
