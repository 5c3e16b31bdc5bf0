package event

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWebRun(t *testing.T) {
	search := func(q string) Request { return Request{Tool: WebSearch, Search: Search{Query: q}} }
	page := func(url, prompt string) Request { return Request{Tool: WebFetch, Fetch: Fetch{url, prompt}} }
	for _, test := range []struct {
		name, input string
		tool        string
		want        []Request
		query, url  string // of the event
	}{
		{"one search", `{"search_query":[{"q":"a b"}]}`, WebSearch, []Request{search("a b")}, "a b", ""},
		{"a search of domains", `{"search_query":[{"q":"a","recency":7,"domains":["d.e"]}]}`, WebSearch, []Request{{Tool: WebSearch, Search: Search{Query: "a", Allowed: []string{"d.e"}}}}, "a", ""},
		{"two searches", `{"search_query":[{"q":"a"},{"q":"b"}],"response_length":"short"}`, WebSearch, []Request{search("a"), search("b")}, "a\nb", ""},
		{"two pages", `{"open":[{"ref_id":"https://a/"},{"ref_id":"http://b/"}]}`, WebFetch, []Request{page("https://a/", ""), page("http://b/", "")}, "", "https://a/ http://b/"},
		{"a pattern in a page", `{"find":[{"ref_id":"https://a/","pattern":"p"}]}`, WebFetch, []Request{page("https://a/", "p")}, "", "https://a/"},
		{"a search and a page", `{"search_query":[{"q":"a"}],"open":[{"ref_id":"https://a/"}]}`, WebSearch, []Request{search("a"), page("https://a/", "")}, "a\nhttps://a/", ""},
		{"an earlier result", `{"open":[{"ref_id":"turn0search1"}]}`, "webrun", nil, "", ""},
		{"a click as well", `{"search_query":[{"q":"a"}],"click":[{"ref_id":"x","id":1}]}`, "webrun", nil, "", ""},
		{"an unknown object as well", `{"search_query":[{"q":"a"}],"more":{"x":1}}`, "webrun", nil, "", ""},
		{"no query", `{"search_query":[{"q":""}]}`, "webrun", nil, "", ""},
		{"an empty list", `{"search_query":[]}`, "webrun", nil, "", ""},
		{"nothing", `{}`, "webrun", nil, "", ""},
	} {
		e, err := ParseFrom([]byte(`{"hook_event_name":"PreToolUse","tool_name":"webrun","tool_input":`+test.input+`}`), Codex, Environ{})
		if err != nil {
			t.Fatal(err)
		}
		requests := e.Requests()
		if test.want == nil {
			requests = e.Several
		}
		if diff := cmp.Diff(test.want, requests); diff != "" || e.Tool != test.tool || e.Search.Query != test.query || e.Fetch.URL != test.url {
			t.Errorf("%s: tool %s, query %q, URL %q, requests (-want +got):\n%s", test.name, e.Tool, e.Search.Query, e.Fetch.URL, diff)
		}
	}
}

func TestCutURLs(t *testing.T) {
	for _, test := range []struct {
		text, rest string
		urls       []string
	}{
		{"Summarise https://docs.gitlab.com/cache about sharing", "Summarise about sharing", []string{"https://docs.gitlab.com/cache"}},
		{"https://a/b.", ".", []string{"https://a/b"}},
		{"Compare https://a/x, (http://b/y?z=1#w) and <https://c/>!", "Compare , () and <>!", []string{"https://a/x", "http://b/y?z=1#w", "https://c/"}},
		{"http is not https, and http: is none either", "http is not https, and http: is none either", nil},
		{"[a](https://a/b) `https://c`", "[a]() ``", []string{"https://a/b", "https://c"}},
		{"", "", nil},
	} {
		urls, rest := cutURLs(test.text)
		if !slices.Equal(urls, test.urls) || rest != test.rest {
			t.Errorf("%q: URLs %q, rest %q", test.text, urls, rest)
		}
	}
}

func TestPatchedFile(t *testing.T) {
	for _, test := range []struct {
		patch string
		want  File
	}{
		{"*** Begin Patch\n*** Update File: a/b.go\n@@ func x\n-old\n+new\n+more\n*** End Patch\n", File{"a/b.go", "new\nmore\n"}},
		{"apply_patch <<'EOF'\n*** Begin Patch\r\n*** Add File: b.md\r\n+text\r\n*** Delete File: c\n*** End Patch\nEOF", File{"b.md", "text\n"}},
		{"*** Delete File: c\n", File{}},
		{"+no file\n", File{}},
		{"", File{}},
	} {
		if got := patchedFile(test.patch); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.patch, got, test.want)
		}
	}
}

func TestContentFailure(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{"<untrusted_context>\nOutput: ls: cannot access '/x': No such file\nsecond: line\nExit Code: 2\nProcess Group PGID: 23600\n</untrusted_context>", "ls: cannot access '/x': No such file\nsecond: line"},
		{"Command: make\nDirectory: (root)\nOutput: (empty)\nError: no rule\nExit Code: 2\nSignal: 0", "no rule"},
		{"Output: fine\nExit Code: 0", ""},
		{"Output: fine\nProcess Group PGID: 1", ""},
		{"", ""},
	} {
		content, err := json.Marshal(map[string]string{"llmContent": test.content})
		if err != nil {
			t.Fatal(err)
		}
		if got := contentFailure(content); got != test.want {
			t.Errorf("%q: %q, want %q", test.content, got, test.want)
		}
	}
}

func TestCopilotFailure(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"no rule\n<shellId: 0 completed with exit code 2>", "no rule"},
		{"<shellId: 0 completed with exit code 0>", ""},
		{"fine\n<shellId: 0 completed with exit code 0>", ""},
		{"process completed with exit code 2", ""},
		{"", ""},
	} {
		text, err := json.Marshal(map[string]string{"textResultForLlm": test.text})
		if err != nil {
			t.Fatal(err)
		}
		if got := copilotFailure(parseInput(text)); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// VS Code runs the hooks of Copilot CLI, whose command names Copilot.
func TestCopilotInVSCode(t *testing.T) {
	e, err := ParseFrom([]byte(`{"hookEventName":"PreToolUse","sessionId":"s","tool_name":"fetch_webpage","tool_input":{"urls":["https://a/"],"query":"q"}}`), Copilot, Environ{})
	if want := (Fetch{"https://a/", "q"}); err != nil || e.Host != VSCode || e.Tool != WebFetch || e.Fetch != want {
		t.Errorf("host %s, tool %s, %+v, %v", e.Host, e.Tool, e.Fetch, err)
	}
}

// Grok Build runs the hooks of Cursor, whose command names Cursor.
func TestCursorInGrok(t *testing.T) {
	e, err := ParseFrom([]byte(`{"hookEventName":"pre_tool_use","hook_event_name":"PreToolUse","sessionId":"s","toolUseId":"u","tool_name":"web_search","tool_input":{"query":"q"}}`), Cursor, Environ{})
	if err != nil || e.Host != Grok || e.Tool != WebSearch || e.Search.Query != "q" || e.Use != "u" {
		t.Errorf("host %s, tool %s, query %q, %v", e.Host, e.Tool, e.Search.Query, err)
	}
}

func TestHostNamed(t *testing.T) {
	for _, h := range Hosts() {
		if got, ok := HostNamed(string(h)); !ok || got != h {
			t.Errorf("%s: %s, %t", h, got, ok)
		}
	}
	if got, ok := HostNamed("kilo"); !ok || got != OpenCode {
		t.Errorf("kilo: %s, %t", got, ok)
	}
	for _, name := range []string{"", "emacs", "Claude", "amp"} {
		if _, ok := HostNamed(name); ok {
			t.Errorf("%q is a host", name)
		}
	}
}

// Hosts that run the hooks in Claude Code's settings are recognized by their own fields. The
// environment decides only where those of two hosts are the same: a program inherits it.
func TestHostOfClaudesHooks(t *testing.T) {
	for _, test := range []struct {
		event   string
		environ Host
		want    Host
	}{
		{`{"hook_event_name":"PreToolUse","transcript_path":"/h/.claude/t"}`, "", Claude},
		{`{"hook_event_name":"PreToolUse","transcript_path":"/h/.claude/t","permission_mode":"auto"}`, Grok, Claude},
		{`{"hook_event_name":"PreToolUse","transcript_path":"/h/.claude/t","prompt_id":"p"}`, Devin, Claude},
		{`{"hookEventName":"PreToolUse","tool_name":"WebSearch"}`, "", Claude},
		{`{"hookEventName":"PreToolUse","hook_event_name":"PreToolUse","sessionId":"s"}`, "", Grok},
		{`{"hookEventName":"pre_tool_use","sessionId":"s","toolName":"web_search"}`, Grok, Grok},
		{`{"hookEventName":"PreToolUse","sessionId":"s"}`, "", VSCode},
		{`{"hookEventName":"PreToolUse","sessionId":"s"}`, Devin, VSCode},
		{`{"hook_event_name":"SessionStart","permission_mode":"off"}`, "", Droid},
		{`{"hook_event_name":"PreToolUse","permission_mode":"spec"}`, Devin, Droid},
		{`{"hook_event_name":"Stop","transcript_path":"/h/.factory/sessions/t"}`, "", Droid},
		{`{"hook_event_name":"PreToolUse","prompt_id":"p"}`, Devin, Devin},
		{`{"hook_event_name":"PreToolUse","prompt_id":"p"}`, "", Claude},
		{`{"hook_event_name":"preToolUse","cursor_version":"3"}`, Grok, Cursor},
		{`{"hook_event_name":"PreToolUse","conversation_id":"c","generation_id":"g"}`, "", Cursor},
		{`{"hook_event_name":"PreToolUse","conversation_id":"c","workspace_roots":["/p"]}`, "", Auggie},
		{`{"hookName":"tool_call","taskId":"t"}`, Grok, Cline},
	} {
		if e, err := ParseFrom([]byte(test.event), "", Environ{Host: test.environ}); err != nil || e.Host != test.want {
			t.Errorf("%s in the environment of %q: host %s, %v; want %s", test.event, test.environ, e.Host, err, test.want)
		}
	}
	for variable, want := range map[string]Host{"GROK_SESSION_ID": Grok, "DEVIN_PROJECT_DIR": Devin, "CLAUDE_PLUGIN_ROOT": ""} {
		getenv := func(name string) string { return map[string]string{variable: "x"}[name] }
		if got := ReadEnviron(getenv).Host; got != want {
			t.Errorf("%s shows %q, want %q", variable, got, want)
		}
	}
}

// A host refuses what nobody permits if it asks nobody.
func TestRefuses(t *testing.T) {
	for _, test := range []struct {
		mode    string
		environ Environ
		want    bool
	}{
		{"default", Environ{}, false},
		{"dontAsk", Environ{}, true},
		{"default", Environ{Unattended: true}, true},
		{"plan", Environ{Unattended: true}, true},
		{"bypassPermissions", Environ{Unattended: true}, false},
		{"auto-low", Environ{Unattended: true}, false}, // of Droid
	} {
		e, err := ParseFrom([]byte(`{"hook_event_name":"PreToolUse","permission_mode":"`+test.mode+`"}`), "", test.environ)
		if err != nil || e.Refuses != test.want {
			t.Errorf("%s, %+v: %t, %v; want %t", test.mode, test.environ, e.Refuses, err, test.want)
		}
	}
	getenv := func(name string) string { return map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": "0"}[name] }
	if !ReadEnviron(getenv).Unattended {
		t.Error("a session that nobody attends to is not recognized")
	}
}

// FuzzHosts reads any object as an event of each host.
func FuzzHosts(f *testing.F) {
	for _, seed := range []string{
		`{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":["a"]}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"webrun","tool_input":{"search_query":[{"q":"a"}],"open":[{"ref_id":"https://a"}]}}`,
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"apply_patch <<E\n*** Update File: a\n+b\nE"}}`,
		`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"x"}`,
		`{"hook_event_name":"BeforeTool","tool_name":"web_fetch","tool_input":{"prompt":"see https://a.b, http://c"}}`,
		`{"hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_response":{"llmContent":"Output: x\nExit Code: 1"}}`,
		`{"toolName":"bash","toolArgs":"{\"command\":\"x\"}","toolResult":{"textResultForLlm":"e\n<shellId: 0 completed with exit code 2>"}}`,
		`{"hook_event_name":"PostToolUse","tool_name":"bash","tool_response":{"exit_code":2,"output":"e"}}`,
		`{"event":"PreToolUse","tool_name":"agentic_fetch","tool_input":{"prompt":"p"}}`,
		`{"hook_event_name":"preToolUse","conversation_id":"c","tool_name":"MCP:search"}`,
		`{"hookEventName":"PreToolUse","sessionId":"s","tool_name":"fetch_webpage","tool_input":{"urls":["https://a","https://b"],"query":"q"}}`,
		`{"agent_action_name":"pre_write_code","tool_info":{"file_path":"a","edits":[{"new_string":"b"}]}}`,
		`{"event":"PreToolUse","tool_name":"developer__text_editor","tool_input":{"command":"write","path":"a","file_text":"b"},"working_dir":"/p"}`,
		`{"hook_event_name":"agentSpawn","cwd":"/p"}`,
		`{"hookEventName":"pre_tool_use","hook_event_name":"PreToolUse","tool_name":"docsearch__search","tool_input":{"tool_name":"docsearch__search","tool_input":{"query":"q"}}}`,
		`{"hookEventName":"post_tool_use","sessionId":"s","toolName":"run_terminal_command","toolResult":{"exit_code":2,"output":[108],"output_for_prompt":"exit: 2\nl"}}`,
		`{"hook_event_name":"PreToolUse","permission_mode":"auto-low","tool_name":"Execute","tool_input":{"command":"ls"}}`,
		`{"hook_event_name":"PostToolUse","tool_name":"exec","tool_response":{"success":false,"error":"e"}}`,
		`{"hookName":"tool_call","taskId":"t","workspaceRoots":["/p"],"tool_call":{"id":"c","name":"fetch_web_content","input":{"requests":[{"url":"https://a"},{"url":"https://b","prompt":"p"}]}}}`,
		`{"hookName":"tool_result","taskId":"t","tool_result":{"name":"run_commands","input":{"commands":["a","b"]},"output":[{"result":"e","success":false}]}}`,
		`{"hook_event_name":"PreToolUse","conversation_id":"c","workspace_roots":["/p"],"tool_name":"save-file","tool_input":{"path":"a","file_content":"b"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var object map[string]json.RawMessage
		valid := json.Unmarshal(data, &object) == nil && object != nil
		for _, h := range append(Hosts(), "") {
			e, err := ParseFrom(data, h, Environ{})
			if err != nil {
				if valid {
					t.Fatalf("%s: valid object %q: %v", h, data, err)
				}
				continue
			}
			if h != "" && e.Host != h && e.Host != VSCode && e.Host != Grok || e.Session == "" {
				t.Errorf("%s: host %s, session %q", h, e.Host, e.Session)
			}
			if len(e.Several) == 1 {
				t.Errorf("%s: one request of several in %q", h, data)
			}
			for _, r := range e.Several {
				if r.Tool != WebSearch && r.Tool != WebFetch || e.Tool != WebSearch && e.Tool != WebFetch {
					t.Errorf("%s: request with %s in a call of %s", h, r.Tool, e.Tool)
				}
			}
			for _, text := range []string{e.File.Text, e.Failure, e.Output} {
				if len(text) > 4*maxText || valid && !utf8.ValidString(text) {
					t.Errorf("%s: %d bytes of text, valid UTF-8: %t", h, len(text), utf8.ValidString(text))
				}
			}
			if strings.ContainsAny(e.File.Path, "\n") && h == Codex && e.Tool == Bash {
				t.Errorf("path %q of a patch", e.File.Path)
			}
		}
	})
}
