package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/hook/event"
)

type object = map[string]any

func TestRender(t *testing.T) {
	deny := Reply{Verdict: Deny, Reason: "R <1>.", Context: "C"}
	allow := Reply{Verdict: Allow, Reason: "R <1>."}
	ask := Reply{Verdict: Ask, Reason: "R <1>."}
	nested := func(keys object) object {
		keys["hookEventName"] = "PreToolUse"
		return object{"hookSpecificOutput": keys}
	}
	with := func(o, more object) object {
		for key, value := range more {
			o[key] = value
		}
		return o
	}
	verdict := func(v Verdict) object {
		return nested(object{"permissionDecision": string(v), "permissionDecisionReason": "R <1>."})
	}
	denial := func() object {
		return nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>.", "additionalContext": "C"})
	}
	joined := nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>.\n\nC"})
	for _, test := range []struct {
		name    string
		host    event.Host
		unnamed bool
		reply   Reply
		stdout  object
		stderr  string
		code    int
	}{
		{name: "claude denies", host: event.Claude, reply: deny, stdout: denial(), stderr: "R <1>.", code: 2},
		{name: "claude allows", host: event.Claude, reply: allow, stdout: verdict(Allow)},
		{name: "claude asks", host: event.Claude, reply: ask, stdout: verdict(Ask)},
		{name: "claude passes", host: event.Claude},
		{name: "codex denies, without the last full stop", host: event.Codex, reply: deny,
			stdout: nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>", "additionalContext": "C"})},
		{name: "codex knows no allow", host: event.Codex, reply: allow},
		{name: "codex cannot ask", host: event.Codex, reply: ask, stdout: nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>"})},
		{name: "gemini denies", host: event.Gemini, reply: deny, stdout: object{"decision": "deny", "reason": "R <1>.\n\nC"}},
		{name: "gemini needs no permission", host: event.Gemini, reply: allow},
		{name: "gemini cannot ask", host: event.Gemini, reply: ask, stdout: object{"decision": "deny", "reason": "R <1>."}},
		{name: "copilot denies", host: event.Copilot, reply: deny, stdout: denial()},
		{name: "copilot allows", host: event.Copilot, reply: allow, stdout: verdict(Allow)},
		{name: "copilot asks", host: event.Copilot, reply: ask, stdout: verdict(Ask)},
		{name: "copilot denies an unnamed event", host: event.Copilot, unnamed: true, reply: deny,
			stdout: object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>.\n\nC"}},
		{name: "copilot allows an unnamed event", host: event.Copilot, unnamed: true, reply: allow,
			stdout: object{"permissionDecision": "allow", "permissionDecisionReason": "R <1>."}},
		{name: "copilot passes", host: event.Copilot},
		{name: "opencode denies", host: event.OpenCode, reply: deny, stdout: joined},
		{name: "opencode cannot ask", host: event.OpenCode, reply: ask, stdout: nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>."})},
		{name: "opencode passes", host: event.OpenCode, reply: allow},
		{name: "qwen denies", host: event.Qwen, reply: deny, stdout: joined},
		{name: "crush denies", host: event.Crush, reply: deny, stdout: joined},
		{name: "cursor denies", host: event.Cursor, reply: deny,
			stdout: with(denial(), object{"permission": "deny", "user_message": "R <1>.", "agent_message": "R <1>.\n\nC"})},
		{name: "cursor is never silent", host: event.Cursor, stdout: object{}},
		{name: "cursor gets no allow", host: event.Cursor, reply: allow, stdout: object{}},
		{name: "vscode denies", host: event.VSCode, reply: deny, stdout: denial()},
		{name: "vscode asks", host: event.VSCode, reply: ask, stdout: verdict(Ask)},
		{name: "windsurf denies", host: event.Windsurf, reply: deny, stderr: "R <1>.\n\nC", code: 2},
		{name: "windsurf passes", host: event.Windsurf, reply: allow},
		{name: "goose denies", host: event.Goose, reply: deny, stdout: object{"decision": "block", "reason": "R <1>.\n\nC"}},
		{name: "goose passes", host: event.Goose, reply: allow},
		{name: "kiro denies", host: event.Kiro, reply: deny, stderr: "R <1>.\n\nC", code: 2},
		{name: "kiro passes", host: event.Kiro, reply: allow},
		{name: "grok denies", host: event.Grok, reply: deny, stdout: joined},
		{name: "grok cannot ask", host: event.Grok, reply: ask, stdout: nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>."})},
		{name: "droid denies", host: event.Droid, reply: deny, stdout: joined},
		{name: "droid passes", host: event.Droid, reply: allow},
		{name: "devin denies", host: event.Devin, reply: deny, stdout: object{"decision": "block", "reason": "R <1>.\n\nC"}},
		{name: "devin passes", host: event.Devin, reply: allow},
		{name: "cline denies", host: event.Cline, reply: deny, stdout: joined},
		{name: "cline passes", host: event.Cline, reply: allow},
		{name: "cline denies a program's event", host: event.Cline, unnamed: true, reply: deny,
			stdout: object{"cancel": true, "errorMessage": "R <1>.\n\nC"}},
		{name: "cline lets a program's event pass", host: event.Cline, unnamed: true},
		{name: "cline gives a program's event context", host: event.Cline, unnamed: true, reply: Reply{Context: "C"},
			stdout: object{"contextModification": "C"}},
		{name: "auggie denies", host: event.Auggie, reply: deny, stdout: joined},
		{name: "auggie passes", host: event.Auggie, reply: allow},
		{name: "an unknown host is answered as claude", host: "other", reply: ask, stdout: verdict(Ask)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Of(test.host).Render(&event.Event{Host: test.host, Name: event.PreToolUse, Unnamed: test.unnamed}, test.reply)
			var stdout object
			if len(got.Stdout) > 0 {
				if err := json.Unmarshal(got.Stdout, &stdout); err != nil {
					t.Fatalf("%s: %v", got.Stdout, err)
				}
			}
			if diff := cmp.Diff(test.stdout, stdout); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if got.Stderr != test.stderr || got.Code != test.code {
				t.Errorf("stderr %q, code %d; want %q, %d", got.Stderr, got.Code, test.stderr, test.code)
			}
		})
	}
}

// The line for the person goes to the hosts that are known to show it; others get no key that
// they may not know.
func TestMessage(t *testing.T) {
	shows := []event.Host{event.Claude, event.Codex, event.Gemini, event.OpenCode, event.VSCode}
	for _, c := range append(clients[:], &claude) {
		e := event.Event{Host: c.Host, Name: event.PreToolUse, Tool: event.WebSearch}
		o := c.Render(&e, Reply{Verdict: Deny, Reason: "R", Context: "C", Message: "M"})
		if got, want := strings.Contains(string(o.Stdout), `"systemMessage":"M"`), slices.Contains(shows, c.Host); got != want || strings.Contains(o.Stderr, "M") {
			t.Errorf("%s: shows the message: %t, want %t: %s%s", c.Host, got, want, o.Stdout, o.Stderr)
		}
	}
}

// A context goes only to the events whose context reaches the agent, in the form that
// carries it there.
func TestContext(t *testing.T) {
	claude := func(name string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + name + `","additionalContext":"c"}}` + "\n"
	}
	both := func(name string) string {
		return `{"additionalContext":"c","hookSpecificOutput":{"hookEventName":"` + name + `","additionalContext":"c"}}` + "\n"
	}
	geminis := func(string) string { return `{"hookSpecificOutput":{"additionalContext":"c"}}` + "\n" }
	cursors := func(name string) string { return `{"additional_context":"c",` + claude(name)[1:] }
	plain := func(string) string { return "c\n" }
	const session, sub, prompt, pre, post, failed = event.SessionStart, event.SubagentStart, event.UserPromptSubmit, event.PreToolUse, event.PostToolUse, event.PostToolUseFailure
	all := []string{session, sub, prompt, pre, post, failed}
	for _, test := range []struct {
		host  event.Host
		form  func(name string) string
		takes []string
		empty map[string]string // output without a context
	}{
		{host: event.Claude, form: claude, takes: all},
		{host: event.Codex, form: claude, takes: []string{session, sub, prompt, pre, post}},
		{host: event.Gemini, form: geminis, takes: []string{session, prompt, post}},
		{host: event.Copilot, form: both, takes: all},
		{host: event.OpenCode, form: claude, takes: []string{session, sub, pre, post}},
		{host: event.Qwen, form: claude, takes: []string{prompt, post, failed}},
		{host: event.Crush, form: claude, takes: []string{pre}},
		{host: event.Cursor, form: cursors, takes: []string{session}, empty: map[string]string{pre: "{}\n"}},
		{host: event.VSCode, form: claude, takes: []string{session, pre, post}},
		{host: event.Windsurf},
		{host: event.Goose},
		{host: event.Kiro, form: plain, takes: []string{session, prompt}},
		{host: event.Grok, form: claude, takes: []string{pre, post}},
		{host: event.Droid, form: claude, takes: []string{session, post}},
		{host: event.Devin, form: claude, takes: []string{session}},
		{host: event.Cline, form: claude, takes: []string{session, sub, pre, post}},
		{host: event.Auggie, form: claude, takes: []string{session}},
	} {
		for _, name := range append(slices.Clone(all), event.PreCompact, event.PostCompact, event.SessionEnd, "Stop") {
			want := test.empty[name]
			if slices.Contains(test.takes, name) {
				want = test.form(name)
			}
			got := Of(test.host).Render(&event.Event{Host: test.host, Name: name}, Reply{Context: "c"})
			if string(got.Stdout) != want || got.Stderr != "" || got.Code != 0 {
				t.Errorf("%s at %s: %q, stderr %q, code %d; want %q", test.host, name, got.Stdout, got.Stderr, got.Code, want)
			}
		}
	}
}

func TestToolNames(t *testing.T) {
	const search, list = "mcp__docsearch__search", "mcp__docsearch__list_databases"
	known := func(name string) bool { return name == search || name == list || name == "mcp__my_docs__search" }
	for _, test := range []struct {
		host         event.Host
		search, list string
	}{
		{event.Claude, search, list},
		{event.Codex, "mcp__docsearch.search", "mcp__docsearch.list_databases"},
		{event.Gemini, "mcp_docsearch_search", "mcp_docsearch_list_databases"},
		{event.Copilot, "docsearch-search", "docsearch-list_databases"},
		{event.OpenCode, "docsearch_search", "docsearch_list_databases"},
		{event.Qwen, search, list},
		{event.Crush, "mcp_docsearch_search", "mcp_docsearch_list_databases"},
		{event.Cursor, "mcp_docsearch_search", "mcp_docsearch_list_databases"},
		{event.VSCode, "mcp_docsearch_search", "mcp_docsearch_list_databases"},
		{event.Windsurf, "docsearch/search", "docsearch/list_databases"},
		{event.Goose, "docsearch__search", "docsearch__list_databases"},
		{event.Kiro, "@docsearch/search", "@docsearch/list_databases"},
		{event.Grok, "docsearch__search", "docsearch__list_databases"},
		{event.Droid, "docsearch___search", "docsearch___list_databases"},
		{event.Devin, search, list},
		{event.Cline, "docsearch__search", "docsearch__list_databases"},
		{event.Auggie, "search_docsearch", "list_databases_docsearch"},
	} {
		c := Of(test.host)
		if got := c.ToolName(search); got != test.search {
			t.Errorf("%s: the search tool is %s, want %s", test.host, got, test.search)
		}
		if got := c.ToolName(list); got != test.list {
			t.Errorf("%s: the list tool is %s, want %s", test.host, got, test.list)
		}
		for _, full := range []string{search, list, "mcp__my_docs__search"} {
			for _, name := range []string{full, c.ToolName(full)} {
				if got := c.CommonName(name, known); got != full {
					t.Errorf("%s: the full name of %s is %s, want %s", test.host, name, got, full)
				}
			}
		}
		const other = "mcp__github__create_issue"
		if got := c.CommonName(c.ToolName(other), known); got != other {
			t.Errorf("%s: the full name of %s is %s, want %s", test.host, c.ToolName(other), got, other)
		}
		for _, name := range []string{"", "Bash", "WebSearch", "_", "-", "search"} {
			if got := c.CommonName(name, known); got != name {
				t.Errorf("%s: %q became %q", test.host, name, got)
			}
		}
	}
}

func TestCall(t *testing.T) {
	for _, test := range []struct {
		host   event.Host
		prompt string
		want   string
	}{
		{event.Claude, "p", `mcp__docs__read {"id": "x"}`},
		{event.Droid, "", `docs___read {"id": "x"}`},
		{event.Grok, "", `use_tool {"tool_name": "docs__read", "tool_input": {"id": "x"}}`},
		{event.Qwen, "p", `tool_call {"name": "mcp__docs__read", "arguments": {"id": "x"}}`},
		{event.Qwen, "", `mcp__docs__read {"id": "x"}`},
	} {
		if got := Of(test.host).Call(&event.Event{PromptID: test.prompt}, "mcp__docs__read", `{"id": "x"}`); got != test.want {
			t.Errorf("%s: %s, want %s", test.host, got, test.want)
		}
	}
}

func TestCallNames(t *testing.T) {
	for _, test := range []struct {
		host       event.Host
		tool, want string
	}{
		{event.Claude, "WebSearch", "WebSearch"},
		{event.Codex, "webrun", "web.run call"},
		{event.Codex, "Bash", "exec_command"},
		{event.Gemini, "google_web_search", "google_web_search"},
		{event.Copilot, "WebFetch", "web_fetch"},
		{event.Copilot, "web_search", "web_search"},
		{event.OpenCode, "webfetch", "webfetch"},
	} {
		if got := Of(test.host).CallName(&event.Event{ClientTool: test.tool}); got != test.want {
			t.Errorf("%s: %s is %q, want %q", test.host, test.tool, got, test.want)
		}
	}
	if got := Of(event.Claude).CallName(&event.Event{Tool: event.WebSearch}); got != event.WebSearch {
		t.Errorf("an event without its own name: %q", got)
	}
}

// Codex cuts the middle out of long texts, so they end before that.
func TestCodexTexts(t *testing.T) {
	for _, text := range []string{strings.Repeat("line\n", 5000), strings.Repeat("é", 20_000), "\n" + strings.Repeat("x", 20_000)} {
		got := Of(event.Codex).Render(&event.Event{Name: event.SessionStart}, Reply{Context: text})
		var o struct {
			HookSpecificOutput struct{ AdditionalContext string }
		}
		if err := json.Unmarshal(got.Stdout, &o); err != nil {
			t.Fatal(err)
		}
		context := o.HookSpecificOutput.AdditionalContext
		if len(context) > maxCodexText || len(context) < maxCodexText-20 || !utf8.ValidString(context) || !strings.HasSuffix(context, "\n[...]") {
			t.Errorf("%d bytes of %q...", len(context), text[:10])
		}
	}
}

// The rules of Claude Code's settings keep a server's tool, or all of them, from the agent.
func TestWithholds(t *testing.T) {
	const tool = "mcp__docsearch__search"
	for _, test := range []struct {
		file, settings string
		host           event.Host
		want           bool
	}{
		{"home/.claude/settings.json", `{"permissions": {"deny": ["WebFetch", "mcp__docsearch"]}}`, event.Claude, true},
		{"home/.claude/settings.json", `{"permissions": {"deny": ["mcp__docsearch__*"]}}`, event.Claude, true},
		{"p/.claude/settings.json", `{"permissions": {"deny": ["mcp__docsearch__search"]}}`, event.Claude, true},
		{"p/.claude/settings.local.json", `{"permissions": {"deny": ["mcp__docsearch"]}}`, event.Claude, true},
		{"p/.claude/settings.json", `{"permissions": {"deny": ["mcp__docsearch__read", "mcp__docs"]}}`, event.Claude, false},
		{"p/.claude/settings.json", `{"permissions": {"allow": ["mcp__docsearch"]}}`, event.Claude, false},
		{"p/.claude/settings.json", `{"permissions": `, event.Claude, false},
		{"home/.claude/settings.json", `{"permissions": {"deny": ["mcp__docsearch"]}}`, event.Codex, false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(test.file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(test.settings), 0o600)); err != nil {
			t.Fatal(err)
		}
		home := filepath.Join(dir, "home")
		getenv := func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
		p := PermissionsOf(&event.Event{Host: test.host, Cwd: filepath.Join(dir, "p")}, getenv)
		if got := p.Withholds(tool); got != test.want {
			t.Errorf("%s in %s, %s: %t, want %t", test.settings, test.file, test.host, got, test.want)
		}
	}
}
