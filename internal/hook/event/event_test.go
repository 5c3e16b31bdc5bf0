package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

func TestParse(t *testing.T) {
	search := func(query string) Event {
		return Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: WebSearch, Search: Search{Query: query}}
	}
	for _, test := range []struct {
		name, event string
		want        Event
	}{
		{"claude", `{"session_id":"s","transcript_path":"/t","cwd":"/p","prompt_id":"4430","permission_mode":"default","agent_id":"a66","agent_type":"general-purpose","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci config","allowed_domains":["docs.gitlab.com"]},"tool_use_id":"toolu_1"}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Use: "toolu_1", PromptID: "4430", Agent: "a66", AgentType: "general-purpose", Cwd: "/p", Transcript: "/t", Tool: WebSearch, Search: Search{Query: "gitlab ci config", Allowed: []string{"docs.gitlab.com"}}}},
		{"another tool's input is kept as it is", `{"session_id":"s","tool_name":"Grep","hook_event_name":"PreToolUse","tool_input":{"query":"ls"}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "Grep", Input: `{"query":"ls"}`}},
		{"web fetch", `{"session_id":"s","tool_name":"WebFetch","tool_input":{"url":"https://docs.gitlab.com/ci/","prompt":"how do caches work"}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: WebFetch, Fetch: Fetch{"https://docs.gitlab.com/ci/", "how do caches work"}}},
		{"command", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"kubectl get pods","description":"List pods"}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: Bash, Command: Command{"kubectl get pods", "List pods"}}},
		{"edit", `{"session_id":"s","tool_name":"Edit","tool_input":{"file_path":"/p/a.go","old_string":"x","new_string":"fmt.Errorf(\"y\")","replace_all":false}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "Edit", File: File{"/p/a.go", `fmt.Errorf("y")`}}},
		{"write", `{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"a.go","content":"package a\n"}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "Write", File: File{"a.go", "package a\n"}}},
		{"several edits", `{"session_id":"s","tool_name":"MultiEdit","tool_input":{"file_path":"a.go","edits":[{"old_string":"1","new_string":"one"},7,{"new_string":"two"}]}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "MultiEdit", File: File{"a.go", "one\n\ntwo\n"}}},
		{"notebook", `{"session_id":"s","tool_name":"NotebookEdit","tool_input":{"notebook_path":"a.ipynb","new_source":"import numpy"}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "NotebookEdit", File: File{"a.ipynb", "import numpy"}}},
		{"read", `{"session_id":"s","tool_name":"Read","tool_input":{"file_path":"/p/a.go","limit":3}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "Read", File: File{Path: "/p/a.go"}}},
		{"session starts", `{"session_id":"s","hook_event_name":"SessionStart","source":"compact","cwd":"/p"}`,
			Event{Host: Claude, Name: SessionStart, Session: "s", Source: "compact", Cwd: "/p"}},
		{"session ends", `{"session_id":"s","hook_event_name":"SessionEnd","reason":"clear"}`,
			Event{Host: Claude, Name: SessionEnd, Session: "s", Reason: "clear"}},
		{"subagent starts", `{"session_id":"s","hook_event_name":"SubagentStart","agent_id":"a1","agent_type":"Explore"}`,
			Event{Host: Claude, Name: SubagentStart, Session: "s", Agent: "a1", AgentType: "Explore"}},
		{"failure", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make"},"error":"Exit code 2\nno rule","is_interrupt":false}`,
			Event{Host: Claude, Name: PostToolUseFailure, Session: "s", Tool: Bash, Command: Command{Line: "make"}, Failure: "Exit code 2\nno rule"}},
		{"failure by its exit code", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"a\n","stderr":"no rule\n","exit_code":2}}`,
			Event{Host: Claude, Name: PostToolUse, Session: "s", Tool: Bash, Command: Command{Line: "make"}, Failure: "no rule\na"}},
		{"failure in a string", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":"{\"exitCode\":1,\"output\":\"no rule\"}"}`,
			Event{Host: Claude, Name: PostToolUse, Session: "s", Tool: Bash, Command: Command{Line: "make"}, Failure: "no rule"}},
		{"success", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"a","exit_code":0}}`,
			Event{Host: Claude, Name: PostToolUse, Session: "s", Tool: Bash, Command: Command{Line: "make"}}},
		{"success without a code", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"a","stderr":"warning","interrupted":false}}`,
			Event{Host: Claude, Name: PostToolUse, Session: "s", Tool: Bash, Command: Command{Line: "make"}}},
		{"no event name", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"q"}}`, search("q")},
		{"another event", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Host: Claude, Name: PostToolUse, Session: "s", Tool: WebSearch, Search: Search{Query: "q"}}},
		{"byte order mark, white space", "\xef\xbb\xbf \r\n{ \"session_id\" : \"s\" ,\t\"tool_name\":\"WebSearch\",\"tool_input\" : { \"query\" : \"q\" } }\n\n", search("q")},
		{"escapes", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"a \"quoted\" \\ {[ word\\"}}`, search(`a "quoted" \ {[ word\`)},
		{"surrogates", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"\ud83d\ude00"}}`, search("😀")},
		{"invalid UTF-8", "{\"session_id\":\"s\",\"tool_name\":\"WebSearch\",\"tool_input\":{\"query\":\"gitlab \xff ci\"}}", search("gitlab � ci")},
		{"null fields", `{"session_id":null,"agent_id":null,"tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":null}}`,
			Event{Host: Claude, Name: PreToolUse, Session: DefaultSession, Tool: WebSearch, Search: Search{Query: "q"}}},
		{"fields of wrong types", `{"session_id":12,"cwd":[],"agent_id":{},"tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":"a.b","blocked_domains":[1,"c.d",null]}}`,
			Event{Host: Claude, Name: PreToolUse, Session: "12", Tool: WebSearch, Search: Search{"q", []string{"a.b"}, []string{"c.d"}}}},
		{"tool is a number", `{"session_id":"s","tool_name":5}`, Event{Host: Claude, Name: PreToolUse, Session: "s", Tool: "5", Search: Search{}}},
		{"query is a list", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":["q"]}}`, search("")},
		{"input is a list", `{"session_id":"s","tool_name":"WebSearch","tool_input":["q"]}`, search("")},
		{"no input", `{"session_id":"s","tool_name":"WebSearch"}`, search("")},
		{"a key twice", `{"session_id":"x","session_id":"s","tool_name":"WebSearch","tool_input":{"query":"p","query":"q"}}`, search("q")},
		{"empty object", `{}`, Event{Host: Claude, Session: DefaultSession}},
		{"empty session", `{"session_id":"","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Host: Claude, Name: PreToolUse, Session: DefaultSession, Tool: WebSearch, Search: Search{Query: "q"}}},

		{"cursor", `{"conversation_id":"c1","generation_id":"g","cursor_version":"2.1.0","workspace_roots":["/p"],"hook_event_name":"preToolUse","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Host: Cursor, Name: PreToolUse, Session: "c1", Tool: WebSearch, Search: Search{Query: "q"}}},
		{"copilot as Claude Code", `{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-01T10:00:00Z","cwd":"/p","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Host: Copilot, Name: PreToolUse, Session: "s", Cwd: "/p", Tool: WebSearch, Search: Search{Query: "q"}}},
		{"copilot", `{"sessionId":"s","timestamp":1704614400000,"cwd":"/p","toolName":"web_search","toolArgs":"{\"query\":\"q\"}"}`,
			Event{Host: Copilot, Name: PreToolUse, Session: "s", Cwd: "/p", Tool: WebSearch, ClientTool: "web_search", Search: Search{Query: "q"}, Unnamed: true}},
		{"vscode", `{"hookEventName":"PostToolUse","sessionId":"s","timestamp":"2026-11-01T10:00:00Z","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Host: VSCode, Name: PostToolUse, Session: "s", Tool: WebSearch, Search: Search{Query: "q"}}},
		{"gemini", `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-11-01T10:00:00Z","tool_name":"google_web_search","tool_input":{"query":"q"}}`,
			Event{Host: Gemini, Name: PreToolUse, Session: "s", Cwd: "/p", Transcript: "/t", Tool: WebSearch, ClientTool: "google_web_search", Search: Search{Query: "q"}}},
		{"codex", `{"session_id":"s","turn_id":"t1","model":"m","hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Host: Codex, Name: PreToolUse, Session: "s", Tool: WebSearch, Search: Search{Query: "q"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse([]byte(test.event))
			if err != nil {
				t.Fatal(err)
			}
			if test.want.ClientTool == "" {
				test.want.ClientTool = test.want.Tool
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for name, event := range map[string]string{
		"nothing":             "",
		"white space":         " \n",
		"a list":              `[{"tool_name":"WebSearch"}]`,
		"a string":            `"WebSearch"`,
		"plain text":          `tool_name: WebSearch`,
		"cut in a value":      `{"tool_name":"WebSearch","tool_input":{"query":"gitl`,
		"cut in a key":        `{"tool_na`,
		"cut after a key":     `{"tool_name"`,
		"cut after a comma":   `{"tool_name":"WebSearch",`,
		"unclosed":            `{"tool_name":"WebSearch","tool_input":{"query":"gitlab"}`,
		"text after":          `{"tool_name":"WebSearch"} {"tool_name":"Bash"}`,
		"single quotes":       `{'tool_name':'WebSearch'}`,
		"a bare word":         `{"tool_name":WebSearch}`,
		"a comma too many":    `{"tool_name":"WebSearch",}`,
		"no colon":            `{"tool_name" "WebSearch"}`,
		"two values":          `{"tool_name":"a" "b"}`,
		"mismatched brackets": `{"tool_input":{]}`,
		"zero bytes":          "\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := Parse([]byte(event)); err == nil && e.Search.Query != "" {
				t.Errorf("%q was read as %+v", event, e)
			} else if err == nil && !strings.Contains(event, "]") {
				t.Errorf("no error for %q", event)
			}
		})
	}
}

// A client may keep the pipe open after the event.
func TestRead(t *testing.T) {
	const whole = `{"tool_name":"WebSearch","tool_input":{"query":"q}"}}`
	long := `{"pad":"` + strings.Repeat("x", 2*eagerLimit) + `",` + whole[1:]
	for _, test := range []struct {
		name, text string
		open       bool // the pipe, after the text
		err        string
	}{
		{"closed", whole, false, ""},
		{"open", whole, true, ""},
		{"open after a newline", whole + "\n", true, ""},
		{"long", long, false, ""},
		{"cut", whole[:len(whole)-1], false, "invalid JSON"},
		{"cut and open", whole[:len(whole)-2], true, "still open"},
		{"long and open", long, true, "still open"},
		{"too long", strings.Repeat("x", MaxSize+1), true, "larger than 64 MiB"},
		{"text after", whole + "x", false, "invalid JSON"},
		{"nothing", "", false, "not a JSON object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, as := range []func(io.Reader) io.Reader{iotest.DataErrReader, iotest.HalfReader} {
				r := io.Reader(strings.NewReader(test.text))
				if test.open {
					r = io.MultiReader(r, iotest.ErrReader(errors.New("still open")))
				}
				e, data, err := ReadFrom(as(r), "", Environ{})
				switch {
				case test.err != "":
					if err == nil || !strings.Contains(err.Error(), test.err) {
						t.Errorf("error %v, want %q", err, test.err)
					}
				case err != nil || e.Search.Query != "q}" || string(data) != test.text:
					t.Errorf("query %q, %d bytes, error %v", e.Search.Query, len(data), err)
				}
			}
		})
	}
}

func TestLongStringsAreSkipped(t *testing.T) {
	event := `{"content":"` + strings.Repeat(`\\ \" { [ `, 1<<20) + `","tool_name":"WebSearch","tool_input":{"query":"q"},"more":[` + strings.Repeat(`{"a":[1,2]},`, 1<<16) + `0]}`
	e, err := Parse([]byte(event))
	if err != nil || e.Search.Query != "q" {
		t.Errorf("query %q, error %v", e.Search.Query, err)
	}
}

// Text to write can be long, and may be cut anywhere.
func TestLongTextIsCut(t *testing.T) {
	for _, unit := range []string{`a`, `\\`, `\"`, `\n`, `\u00e9`, `\ud83d\ude00`, `é`} {
		for shift := range 12 {
			event := `{"tool_name":"Write","tool_input":{"file_path":"a","content":"` + strings.Repeat("x", shift) + strings.Repeat(unit, maxText) + `"}}`
			e, err := Parse([]byte(event))
			if err != nil {
				t.Fatal(err)
			}
			if n := len(e.File.Text); n < maxText/8 || n > maxText || e.File.Path != "a" {
				t.Errorf("of %q, shifted by %d, %d bytes are read", unit, shift, n)
			}
		}
	}
}

// FuzzEvent compares the scanner with encoding/json: both read the same fields from a
// valid object.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":["a"]}}`))
	f.Add([]byte(`{"a":{"b":[1,"]}",{}]},"c":-1.5e3,"d":true,"e":null,"f":"\\\""}`))
	f.Add([]byte(`{"toolName":"web_search","toolArgs":"{\"query\":\"q\"}"}`))
	f.Add([]byte(`{"tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[{"new_string":"b\u00e9"}]}}`))
	f.Add([]byte(`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"exit_code":2,"stderr":"e"}}`))
	f.Add([]byte(`{"a":{]}`))
	f.Add([]byte(` { } `))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, parseErr := Parse(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil {
			return
		}
		if parseErr != nil {
			t.Fatalf("valid object %q: %v", data, parseErr)
		}
		fields, err := rawjson.Object(data)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, x := range fields {
			seen[x.Name] = true
		}
		if len(seen) != len(want) {
			t.Fatalf("%d fields of %q, want %d", len(seen), data, len(want))
		}
		for name, value := range want {
			if got := fields.Raw(name); string(value) != "null" && !bytes.Equal(got, value) {
				t.Errorf("field %q of %q = %q, want %q", name, data, got, value)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	small := []byte(`{"session_id":"0c5f","transcript_path":"/h/.claude/projects/-p/0c5f.jsonl","cwd":"/p","prompt_id":"4430","permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci config"},"tool_use_id":"toolu_1"}`)
	large := []byte(`{"tool_name":"Write","tool_input":{"content":"` + strings.Repeat(`func main() { fmt.Println(\"x\") }\n`, 1<<18) + `"}}`)
	for name, event := range map[string][]byte{"small": small, "large": large} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(event)))
			for b.Loop() {
				if _, err := Parse(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
