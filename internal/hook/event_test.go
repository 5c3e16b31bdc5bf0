package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEvent(t *testing.T) {
	search := func(query string) Event {
		return Event{Host: Claude, Name: preToolUse, Session: "s", Tool: webSearch, Search: Search{Query: query}}
	}
	for _, test := range []struct {
		name, event string
		want        Event
	}{
		{"claude", `{"session_id":"s","transcript_path":"/t","cwd":"/p","prompt_id":"4430","permission_mode":"default","agent_id":"a66","agent_type":"general-purpose","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci config","allowed_domains":["docs.gitlab.com"]},"tool_use_id":"toolu_1"}`,
			Event{Claude, preToolUse, "s", "a66", webSearch, Search{Query: "gitlab ci config", Allowed: []string{"docs.gitlab.com"}}}},
		{"another tool's input is left alone", `{"session_id":"s","tool_name":"Bash","hook_event_name":"PreToolUse","tool_input":{"query":"ls"}}`,
			Event{Claude, preToolUse, "s", "", "Bash", Search{}}},
		{"no event name", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"q"}}`, search("q")},
		{"another event", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Claude, "PostToolUse", "s", "", webSearch, Search{Query: "q"}}},
		{"byte order mark, white space", "\xef\xbb\xbf \r\n{ \"session_id\" : \"s\" ,\t\"tool_name\":\"WebSearch\",\"tool_input\" : { \"query\" : \"q\" } }\n\n", search("q")},
		{"escapes", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"a \"quoted\" \\ {[ word\\"}}`, search(`a "quoted" \ {[ word\`)},
		{"surrogates", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"\ud83d\ude00"}}`, search("😀")},
		{"invalid UTF-8", "{\"session_id\":\"s\",\"tool_name\":\"WebSearch\",\"tool_input\":{\"query\":\"gitlab \xff ci\"}}", search("gitlab � ci")},
		{"null fields", `{"session_id":null,"agent_id":null,"tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":null}}`,
			Event{Claude, preToolUse, defaultSession, "", webSearch, Search{Query: "q"}}},
		{"fields of wrong types", `{"session_id":12,"cwd":[],"agent_id":{},"tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":"a.b","blocked_domains":[1,"c.d",null]}}`,
			Event{Claude, preToolUse, "12", "", webSearch, Search{"q", []string{"a.b"}, []string{"c.d"}}}},
		{"tool is a number", `{"session_id":"s","tool_name":5}`, Event{Claude, preToolUse, "s", "", "5", Search{}}},
		{"query is a list", `{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":["q"]}}`, search("")},
		{"input is a list", `{"session_id":"s","tool_name":"WebSearch","tool_input":["q"]}`, search("")},
		{"no input", `{"session_id":"s","tool_name":"WebSearch"}`, search("")},
		{"a key twice", `{"session_id":"x","session_id":"s","tool_name":"WebSearch","tool_input":{"query":"p","query":"q"}}`, search("q")},
		{"empty object", `{}`, Event{Claude, preToolUse, defaultSession, "", "", Search{}}},
		{"empty session", `{"session_id":"","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Claude, preToolUse, defaultSession, "", webSearch, Search{Query: "q"}}},

		{"cursor", `{"conversation_id":"c1","generation_id":"g","cursor_version":"2.1.0","workspace_roots":["/p"],"hook_event_name":"preToolUse","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Cursor, preToolUse, "c1", "", webSearch, Search{Query: "q"}}},
		{"copilot as Claude Code", `{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-01T10:00:00Z","cwd":"/p","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Copilot, preToolUse, "s", "", webSearch, Search{Query: "q"}}},
		{"copilot", `{"sessionId":"s","timestamp":1704614400000,"cwd":"/p","toolName":"web_search","toolArgs":"{\"query\":\"q\"}"}`,
			Event{Copilot, preToolUse, "s", "", webSearch, Search{Query: "q"}}},
		{"copilot in an editor", `{"hookEventName":"PostToolUse","sessionId":"s","timestamp":"2026-11-01T10:00:00Z","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Copilot, "PostToolUse", "s", "", webSearch, Search{Query: "q"}}},
		{"gemini", `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-11-01T10:00:00Z","tool_name":"google_web_search","tool_input":{"query":"q"}}`,
			Event{Gemini, preToolUse, "s", "", webSearch, Search{Query: "q"}}},
		{"codex", `{"session_id":"s","turn_id":"t1","model":"m","hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"q"}}`,
			Event{Codex, preToolUse, "s", "", webSearch, Search{Query: "q"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseEvent([]byte(test.event))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseEventErrors(t *testing.T) {
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
		"closes what is open": `{"tool_input":{]}`,
		"zero bytes":          "\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := ParseEvent([]byte(event)); err == nil && e.Search.Query != "" {
				t.Errorf("%q was read as %+v", event, e)
			} else if err == nil && !strings.Contains(event, "]") {
				t.Errorf("%q is no error", event)
			}
		})
	}
}

func TestLongStringsAreSkipped(t *testing.T) {
	event := `{"content":"` + strings.Repeat(`\\ \" { [ `, 1<<20) + `","tool_name":"WebSearch","tool_input":{"query":"q"},"more":[` + strings.Repeat(`{"a":[1,2]},`, 1<<16) + `0]}`
	e, err := ParseEvent([]byte(event))
	if err != nil || e.Search.Query != "q" {
		t.Errorf("query %q, error %v", e.Search.Query, err)
	}
}

// FuzzEvent holds the scanner against encoding/json: an object that is valid
// has the same fields by both.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","tool_name":"WebSearch","tool_input":{"query":"q","allowed_domains":["a"]}}`))
	f.Add([]byte(`{"a":{"b":[1,"]}",{}]},"c":-1.5e3,"d":true,"e":null,"f":"\\\""}`))
	f.Add([]byte(`{"toolName":"web_search","toolArgs":"{\"query\":\"q\"}"}`))
	f.Add([]byte(`{"a":{]}`))
	f.Add([]byte(` { } `))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, parseErr := ParseEvent(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil {
			return
		}
		if parseErr != nil {
			t.Fatalf("valid object %q: %v", data, parseErr)
		}
		fields, err := objectFields(data)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, x := range fields {
			seen[x.name] = true
		}
		if len(seen) != len(want) {
			t.Fatalf("%d fields of %q, want %d", len(seen), data, len(want))
		}
		for name, value := range want {
			if got := fields.raw(name); string(value) != "null" && !bytes.Equal(got, value) {
				t.Errorf("field %q of %q = %q, want %q", name, data, got, value)
			}
		}
	})
}

func BenchmarkParseEvent(b *testing.B) {
	small := []byte(`{"session_id":"0c5f","transcript_path":"/h/.claude/projects/-p/0c5f.jsonl","cwd":"/p","prompt_id":"4430","permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci config"},"tool_use_id":"toolu_1"}`)
	large := []byte(`{"tool_name":"Write","tool_input":{"content":"` + strings.Repeat(`func main() { fmt.Println(\"x\") }\n`, 1<<18) + `"}}`)
	for name, event := range map[string][]byte{"small": small, "large": large} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(event)))
			for b.Loop() {
				if _, err := ParseEvent(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzText holds what is written as a string against encoding/json.
func FuzzText(f *testing.F) {
	f.Add("plain")
	f.Add("\"\\/\b\f\n\r\t\x00\x1f\x7f\u2028é😀\xff")
	f.Fuzz(func(t *testing.T, s string) {
		b := appendText(nil, s)
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q was written as %s: %v", s, b, err)
		}
		if want := string([]rune(s)); got != want { // a replacement character for each byte that is no UTF-8
			t.Errorf("%q was read back as %q", s, got)
		}
		if back, ok := decodeText(b); !ok || back != got {
			t.Errorf("%s was read as %q, want %q", b, back, got)
		}
	})
}
