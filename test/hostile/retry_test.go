package hostile

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pythonHook is the Python version of the hook, as far as it decides and keeps its state.
// It answers an event per line, because Python takes long to start.
const pythonHook = `import json, os, re, sys, time

hooks = os.path.join(os.path.expanduser("~"), ".claude", "hooks")


def decide(event):
    session = re.sub(r"[^A-Za-z0-9_-]", "_", event.get("session_id") or "default")
    state = os.path.join(hooks, "docsearch-state-%s.json" % session)
    search = {k: event["tool_input"].get(k) or [] for k in ("allowed_domains", "blocked_domains")}
    search["query"] = event["tool_input"].get("query", "")
    with open(os.path.join(hooks, "docsearch-config.json")) as f:
        words = [k for d in json.load(f)["databases"] for k in d["keywords"]]
    if not any(w in search["query"].lower().split() for w in words):
        return {}
    try:
        with open(state) as f:
            last = json.load(f).get("last_denied") or {}
    except (OSError, ValueError):
        last = {}
    same = all(last.get(k) == v for k, v in search.items()) and time.time() - last.get("timestamp", 0) < 300
    with open(state, "w") as f:
        json.dump({"last_denied": None if same else dict(search, timestamp=time.time())}, f)
    if same:
        return {}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "use the database"}}


for line in sys.stdin:
    print(json.dumps(decide(json.loads(line)), separators=(",", ":")), flush=True)
`

// TestPythonHookBeside runs the Python version of the hook beside this one: each retry
// runs. Then install replaces it, and uninstall puts it back.
func TestPythonHookBeside(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: ", err)
	}
	s := newSandbox(t)
	s.writeRedirectConfig()
	s.env = append(s.env, "DOCSEARCH_HOOK_TIMEOUT_MS=60000")
	script := filepath.Join(s.home, ".claude", "hooks", "docsearch.py")
	s.write(script, pythonHook)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	other := s.converse(exec.CommandContext(ctx, python, script))
	const retries = 80
	for i := range retries {
		e := searchEvent{session: "s", use: fmt.Sprint("first-", i), query: fmt.Sprint("gitlab question ", i)}
		both := func() bool {
			own := make(chan result, 1)
			go func() { own <- s.hook(e.String()) }()
			return denies(other(e.String()), <-own)
		}
		if !both() {
			t.Fatalf("search %d is not denied", i)
		}
		if e.use = fmt.Sprint("retry-", i); both() {
			t.Fatalf("retry %d does not run", i)
		}
	}

	settings := filepath.Join(s.home, ".claude", "settings.json")
	before := `{"model": "opus", "hooks": {"PreToolUse": [
  {"matcher": "WebSearch", "hooks": [{"type": "command", "command": "python3 ~/.claude/hooks/docsearch.py", "timeout": 5}]}
]}}
`
	s.write(settings, before)
	if r := s.docsearch("doctor"); r.code == 0 || !strings.Contains(r.stdout, "fix: docsearch install\n") || !strings.Contains(r.stdout, "Python version") {
		t.Errorf("doctor: %+v", r)
	}
	s.must(s.docsearch("install", "--client", "claude", "--command", *binary))
	if text := s.read(settings); strings.Contains(text, "docsearch.py") || !strings.Contains(text, "hook") {
		t.Errorf("after install: %s", text)
	}
	if r := s.docsearch("doctor"); strings.Contains(r.stdout, "Python version") {
		t.Errorf("doctor after install: %+v", r)
	}
	s.must(s.docsearch("uninstall", "--client", "claude"))
	if text := s.read(settings); text != before {
		t.Errorf("after uninstall: %s", text)
	}
	s.must(s.docsearch("install", "--client", "claude", "--command", *binary))
	s.write(settings, strings.Replace(s.read(settings), "opus", "sonnet", 1))
	s.must(s.docsearch("uninstall", "--client", "claude"))
	if text := s.read(settings); !strings.Contains(text, `"python3 ~/.claude/hooks/docsearch.py", "timeout": 5`) || !strings.Contains(text, "sonnet") {
		t.Errorf("after another change and uninstall: %s", text)
	}
}

// converse starts a command that answers each line with a line, until the test ends. ask
// sends it a line.
func (s *sandbox) converse(cmd *exec.Cmd) (ask func(line string) result) {
	s.Helper()
	cmd.Env, cmd.Dir, cmd.Stderr = s.env, s.work, s.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func(line string) result {
		s.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			s.Fatal(err)
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			s.Fatal(err)
		}
		return result{stdout: answer}
	}
}

// TestPythonHookThatStays installs where a plugin has the Python version of the hook.
func TestPythonHookThatStays(t *testing.T) {
	s := newSandbox(t)
	plugin := filepath.Join(s.home, ".claude", "plugins", "old")
	s.write(filepath.Join(plugin, "hooks", "hooks.json"), `{"hooks": {"PreToolUse": [{"matcher": "WebSearch", "hooks": [{"type": "command", "command": "python3 ${CLAUDE_PLUGIN_ROOT}/docsearch.py"}]}]}}`)
	installed, err := json.Marshal(map[string]any{"version": 2, "plugins": map[string]any{"old@market": []any{map[string]any{"scope": "user", "installPath": plugin}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.home, ".claude", "plugins", "installed_plugins.json"), string(installed))
	settings := filepath.Join(s.home, ".claude", "settings.json")
	s.write(settings, `{"enabledPlugins": {"old@market": true}}`)
	// The version of Claude Code is asked in an empty folder of the cache.
	if err := os.MkdirAll(filepath.Join(s.home, ".cache", "docsearch"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := s.snapshotOf(s.home)
	r := s.docsearch("install", "--client", "claude", "--command", *binary)
	if r.code != 1 || !strings.Contains(r.stderr, "the plugin old@market has") || !strings.Contains(r.stderr, "\nhint: claude plugin disable old@market\n") {
		t.Errorf("install: %+v", r)
	}
	s.requireUnchanged(s.home, before)
}

// TestNamedCall sends the call that a denial names to docsearch's server, which is
// registered as leann.
func TestNamedCall(t *testing.T) {
	for _, test := range []struct {
		name, tool string
		args       []string
		settings   bool
	}{
		{"default", "", nil, true},
		{"default, compatible", "", []string{"--leann-compat"}, true},
		{"search", "mcp__leann__search", nil, true},
		{"search, compatible", "mcp__leann__search", []string{"--leann-compat"}, true},
		{"search, settings of another agent", "mcp__leann__search", nil, false},
		{"leann_search", "mcp__leann__leann_search", []string{"--leann-compat"}, true},
		{"leann_search, settings of another agent", "mcp__leann__leann_search", []string{"--leann-compat"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSandbox(t)
			s.write(filepath.Join(s.work, "docs", "quiet.md"), "# The tool\n\n## How do I make the tool quiet?\n\nThe option `--quiet` keeps the tool from printing anything but errors.\n")
			data := filepath.Join(s.home, "indexes", "tool-manual")
			s.must(s.docsearch("index", "build", filepath.Join(s.work, "docs"), "--out", data, "--name", "other", "--quiet"))
			database := map[string]any{"keywords": []string{"tool"}, "path": data, "description": "manual of the tool"}
			if test.tool != "" {
				database["mcp_tool_name"] = test.tool
			}
			s.configure(map[string]any{"databases": []any{database}, "hook": map[string]any{"timeout_ms": 5000}})
			if test.settings {
				entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"leann": map[string]any{"command": "docsearch", "args": append([]string{"serve"}, test.args...)}}})
				if err != nil {
					t.Fatal(err)
				}
				s.write(filepath.Join(s.home, ".claude.json"), string(entry))
			}
			text := strings.Join(hookText(t, s.hook(searchEvent{session: "s", use: "1", query: "how do I make the tool quiet"}.String())), "\n")
			var tool, arguments string
			for line := range strings.Lines(text) {
				if rest, ok := strings.CutPrefix(line, "mcp__"); ok {
					_, rest, _ = strings.Cut(rest, "leann__")
					tool, arguments, _ = strings.Cut(rest, " ")
				}
			}
			var call map[string]any
			if err := json.Unmarshal([]byte(arguments), &call); err != nil {
				t.Fatalf("no call of the server leann in %q: %v", text, err)
			}
			if answer := s.serve(test.args...).call(t, tool, call); !strings.Contains(answer, "keeps the tool from printing") {
				t.Errorf("%s %s answers: %s", tool, arguments, answer)
			}
		})
	}
}
