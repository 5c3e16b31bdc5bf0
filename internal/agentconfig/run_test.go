package agentconfig

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestRunHook(t *testing.T) {
	needShell(t)
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R","additionalContext":"C"}}`
	for name, test := range map[string]struct {
		script  string
		want    Outcome
		wantErr string
	}{
		"silence":        {"cat >/dev/null", Outcome{}, ""},
		"denial":         {"cat >/dev/null; echo '" + deny + "'; echo R >&2; exit 2", Outcome{Decision: "deny", Reason: "R", Context: "C", Code: 2}, ""},
		"older denial":   {"echo R >&2; exit 2", Outcome{Decision: "deny", Reason: "R", Code: 2}, ""},
		"denial and log": {"echo '" + deny + "'; echo R >&2; echo trouble >&2; exit 2", Outcome{Decision: "deny", Reason: "R", Context: "C", Code: 2, Stderr: "trouble"}, ""},
		"fails open":     {"echo no config >&2", Outcome{Stderr: "no config"}, ""},
		"not JSON":       {"echo hello", Outcome{}, "want one JSON object, got hello"},
		"two objects":    {"echo '{}{}'", Outcome{}, "want one JSON object"},
		"another event":  {`echo '{"hookSpecificOutput":{"hookEventName":"Stop"}}'`, Outcome{}, `wrong event "Stop"`},
		"failure":        {"echo it broke >&2; exit 3", Outcome{}, "exit code 3: it broke"},
		"not there":      {"exec /nowhere/docsearch hook", Outcome{}, "exit code 127"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := RunHook(shell(t.Context(), test.script), map[string]string{"tool_name": "WebSearch"})
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error = %v, want one with %q", err, test.wantErr)
				}
				return
			}
			got.Took = 0
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
	if _, err := RunHook(exec.CommandContext(t.Context(), "/nowhere/docsearch"), nil); err == nil {
		t.Error("no error for a missing program")
	}
}

func TestRunHookGetsTheEvent(t *testing.T) {
	needShell(t)
	got, err := RunHook(shell(t.Context(), `cat >&2; exit 2`), map[string]string{"tool_name": "WebSearch"})
	if err != nil || got.Reason != `{"tool_name":"WebSearch"}` {
		t.Errorf("the hook read %q, %v", got.Reason, err)
	}
}

func TestStartServerFails(t *testing.T) {
	needShell(t)
	for name, test := range map[string]struct{ script, want string }{
		"ends at once":    {"echo no such option >&2; exit 1", "no response to initialize"},
		"not a server":    {"cat", "no response to initialize"},
		"never answers":   {"cat >/dev/null", "no response to initialize"},
		"has no tools":    {`read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'; cat >/dev/null`, "no response to tools/list"},
		"is not there":    {"exec /nowhere/docsearch serve", "no response to initialize"},
		"closes its pipe": {"exec <&-; exec >&-; sleep 5", "no response to initialize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			s, err := StartServer(ctx, func(ctx context.Context) *exec.Cmd { return shell(ctx, test.script) })
			if err == nil {
				s.Close()
				t.Fatalf("started %s with the tools %q", s.Server, s.Tools)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}

// shell runs a script.
func shell(ctx context.Context, script string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", script)
}

func needShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the scripts are for a POSIX shell")
	}
}
