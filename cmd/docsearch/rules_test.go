package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/index/indextest"
)

// rulesConfig has a rule of each kind.
const rulesConfig = `{"databases": [], "routes": {
  "pr": {"pattern": "github\\.com/(?P<repo>[^/]+/[^/]+)/pull/(?P<number>\\d+)", "message": "Use gh pr view ${number} --repo ${repo}."},
  "kubectl": {"command_pattern": "^kubectl\\s+(\\w+)", "commands": "parsed", "message": "no $1"},
  "push": {"tool": "Bash", "pattern": "git\\s+push", "action": "ask", "message": "Really?"},
  "make": {"tool": "Bash", "pattern": "^make\\b", "action": "warn", "message": "Takes an hour."},
  "slow": {"tool": "Bash", "pattern": "(x+)+$", "message": "m"},
  "rm": {"tool": "Bash", "pattern": "^rm\\s", "limit": 3, "message": "Use trash."},
  "jira": {"tool_pattern": "mcp__jira", "message": "no tickets"}
}}`

func toolCall(session, tool, argument, value string) string {
	event, err := json.Marshal(map[string]any{
		"session_id": session, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": map[string]any{argument: value},
	})
	if err != nil {
		panic(err)
	}
	return string(event)
}

func TestHookRules(t *testing.T) {
	h := newHookHome(t, rulesConfig)
	bash := func(line string) string { return toolCall("s", "Bash", "command", line) }
	for _, test := range []struct {
		name   string
		event  string
		code   int
		stdout string // expected substring; empty: no output
		stderr string // expected beginning
	}{
		{"page", toolCall("s", "WebFetch", "url", "https://github.com/cli/cli/pull/42"), 2, `"permissionDecisionReason":"Use gh pr view 42 --repo cli/cli."`, "Use gh pr view 42 --repo cli/cli.\n"},
		{"other page", toolCall("s", "WebFetch", "url", "https://github.com/cli/cli"), 0, "", ""},
		{"parsed", bash("cd x && kubectl delete pod y"), 2, `"permissionDecisionReason":"no delete"`, "no delete\n"},
		{"parsed, no match", bash("echo 'kubectl delete pod y'"), 0, "", ""},
		{"ask", bash("git push"), 0, `"permissionDecision":"ask","permissionDecisionReason":"Really?"`, ""},
		{"warn", bash("make all"), 0, `{"hookEventName":"PreToolUse","additionalContext":"Takes an hour."}`, ""},
		{"server", toolCall("s", "mcp__jira__create", "title", "x"), 2, "no tickets", "no tickets\n"},
		{"no match", bash("ls"), 0, "", ""},
		{"other tool", toolCall("s", "Read", "file_path", "/x"), 0, "", ""},
		{"without end", bash(strings.Repeat("x", 60) + "!"), 0, "", "docsearch: rule slow skipped: its pattern takes longer than 50ms on this text\n"},
		{"no shell", bash("kubectl ("), 0, "", "docsearch: rule kubectl skipped: cannot parse the command"},
	} {
		for _, run := range []string{"first", "again"} { // from the file, then from the snapshot
			r := h.run(test.event)
			if r.code != test.code || !strings.Contains(r.stdout, test.stdout) || (r.stdout == "") != (test.stdout == "") || !strings.HasPrefix(r.stderr, test.stderr) || (r.stderr == "") != (test.stderr == "") {
				t.Errorf("%s, %s: code %d, stdout %q, stderr %q", test.name, run, r.code, r.stdout, r.stderr)
			}
		}
	}
	reason, _ := h.run(bash("kubectl get"), "TOOL_ROUTING_DEBUG=1").requireDenial(t)
	if want := "Tool Routing: kubectl (" + h.config + ")\nMatched Command: kubectl get\nPattern: ^kubectl\\s+(\\w+)\n\nno get"; reason != want {
		t.Errorf("with debugging: reason %q, want %q", reason, want)
	}
}

// A rule can answer from a database; the retry runs.
func TestHookRuleAnswers(t *testing.T) {
	path, err := json.Marshal(indextest.Database(t, 300))
	if err != nil {
		t.Fatal(err)
	}
	h := newHookHome(t, `{"databases": [{"keywords": ["registry"], "path": `+string(path)+`, "description": "Registry documentation"}],
		"routes": {"help": {"command_pattern": "^registry help ", "database": "registry"}}}`)
	event := toolCall("s", "Bash", "command", "registry help "+indextest.Question+" "+indextest.Answer)
	reason, context := h.run(event).requireDenial(t)
	for _, want := range []string{"Local documentation answers this call.\n", `mcp__docsearch__search {"query": "registry help how do I rotate`, "sending the same Bash again, unchanged, runs it."} {
		if !strings.Contains(reason, want) {
			t.Errorf("reason lacks %q:\n%s", want, reason)
		}
	}
	if !strings.Contains(reason+context, indextest.Answer) {
		t.Errorf("the passage that answers is missing:\n%s\n\n%s", reason, context)
	}
	h.run(event).requirePass(t)
	h.run(toolCall("s", "Bash", "command", "registry help deeds in medieval Iceland")).requirePass(t)
}

// A change of any rule file applies from the next call on, and the rules of one
// project do not apply in another.
func TestHookRuleFiles(t *testing.T) {
	h := newHookHome(t, `{"databases": []}`)
	rule := func(name string) string {
		return `{"routes": {"` + name + `": {"tool": "Bash", "pattern": "^deploy", "message": "by ` + name + `"}}}`
	}
	put := func(text string, path ...string) {
		t.Helper()
		name := filepath.Join(append([]string{h.dir}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		h.write(name, text)
		waitForTimestampTick(t, name)
	}
	event := toolCall("s", "Bash", "command", "deploy now")
	project := []string{"CLAUDE_PROJECT_DIR=" + filepath.Join(h.dir, "project"), "CLAUDE_PLUGIN_ROOT=" + filepath.Join(h.dir, "plugin")}
	by := func(want string) {
		t.Helper()
		for range 3 {
			r := h.run(event, project...)
			if want == "" {
				r.requirePass(t)
			} else if reason, _ := r.requireDenial(t); reason != "by "+want {
				t.Errorf("reason %q, want that of %s", reason, want)
			}
		}
		h.run(event, "CLAUDE_PROJECT_DIR="+h.dir).requirePass(t)
	}
	by("")
	put("routes:\n  project:\n    tool: Bash\n    pattern: ^deploy\n    message: by project\n", "project", ".docsearch", "routes.yaml")
	by("project")
	put(rule("other"), "project", ".docsearch", "routes.yaml") // JSON is valid YAML
	by("other")
	put(rule("plugin"), "plugin", "hooks", "tool-routes.json")
	by("plugin")
	put(rule("another"), "plugin", "hooks", "tool-routes.json")
	by("another")
	put("routes: [", "project", ".docsearch", "routes.yaml")
	by("another") // without opening the project's file
	if r := h.run(toolCall("s", "Bash", "command", "ls"), project...); !strings.Contains(r.stderr, "routes.yaml:1: invalid YAML") {
		t.Errorf("stderr %q", r.stderr)
	}
	if err := os.RemoveAll(filepath.Join(h.dir, "plugin")); err != nil {
		t.Fatal(err)
	}
	by("")

	// Files that the environment and the config name.
	named, folder := filepath.Join(h.dir, "named.json"), filepath.Join(h.dir, "folder")
	project = append(project, "TOOL_ROUTING_ROUTES="+named+string(os.PathListSeparator)+folder)
	if r := h.run(event, project...); r.code != 0 || !strings.Contains(r.stderr, "routes "+named+": file not found") {
		t.Errorf("code %d, stderr %q", r.code, r.stderr)
	}
	put(rule("folder"), "folder", "a.json")
	put(`{"routes": {}}`, "named.json")
	by("folder")
	put(rule("named"), "named.json")
	by("named")
	put(rule("config"), "config.yaml")
	h.write(h.config, `{"databases": [], "route_files": ["`+filepath.ToSlash(filepath.Join(h.dir, "config.yaml"))+`"]}`)
	waitForTimestampTick(t, h.config)
	for _, env := range [][]string{project, {"CLAUDE_PROJECT_DIR=" + h.dir}} {
		if reason, _ := h.run(event, env...).requireDenial(t); reason != "by config" {
			t.Errorf("reason %q, want that of the config's file", reason)
		}
	}
}

// A rule with a rate denies the calls that exceed it.
func TestHookRate(t *testing.T) {
	h := newHookHome(t, `{"databases": [], "routes": {"poll": {"command_pattern": "^gh run view", "rate": "2/1h", "message": "Use gh run watch."}}}`)
	call := func(session, line string) hookResult { return h.run(toolCall(session, "Bash", "command", line)) }
	for i := range 2 {
		call("s", fmt.Sprint("gh run view ", i)).requirePass(t)
	}
	for i := range 2 {
		if reason, _ := call("s", fmt.Sprint("gh run view ", i)).requireDenial(t); reason != "Use gh run watch." {
			t.Errorf("reason %q", reason)
		}
	}
	call("s", "gh pr list").requirePass(t)
	call("another", "gh run view 1").requirePass(t)
}

// With concurrent hooks in a session, the rule denies exactly as often as its
// limit allows.
func TestHookLimit(t *testing.T) {
	h := newHookHome(t, rulesConfig)
	h.run(toolCall("s", "Bash", "command", "ls"))
	const hooks = 24
	codes := make([]int, hooks)
	var wg sync.WaitGroup
	for i := range hooks {
		wg.Go(func() {
			r := h.run(toolCall("s", "Bash", "command", fmt.Sprint("rm ", i)))
			if codes[i] = r.code; r.code == 0 && !strings.Contains(r.stdout, `"additionalContext":"Use trash."`) {
				t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
			}
		})
	}
	wg.Wait()
	denied := 0
	for _, code := range codes {
		if code == 2 {
			denied++
		}
	}
	if denied != 3 {
		t.Errorf("%d denials, want 3", denied)
	}
	h.run(toolCall("another", "Bash", "command", "rm x")).requireDenial(t)
}
