package replay

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// line returns a line of a transcript of session s.
func line(kind, rest string) string {
	return fmt.Sprintf(`{"type":%q,"sessionId":"s","cwd":"/src","timestamp":"2026-01-02T03:04:05Z",%s}`, kind, rest) + "\n"
}

func use(id, tool, input string) string {
	return line("assistant", fmt.Sprintf(`"message":{"content":[{"type":"text","text":"Now:"},{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, id, tool, input))
}

func result(id string, failed bool, content string) string {
	return line("user", fmt.Sprintf(`"message":{"content":[{"type":"tool_result","tool_use_id":%q,"is_error":%t,"content":%s}]}`, id, failed, content))
}

func TestRead(t *testing.T) {
	compact := line("system", `"subtype":"compact_boundary"`)
	said := line("user", `"message":{"content":"fix the build"}`)
	subagent := strings.Replace(use("t9", "Bash", `{"command":"ls"}`), `"cwd"`, `"isSidechain":true,"agentId":"a1","cwd"`, 1)
	tests := []struct {
		name, text string
		want       []string
		damaged    int
	}{
		{"nothing", "", nil, 0},
		{"no calls", said + line("assistant", `"message":{"content":[{"type":"text","text":"x"}]}`), nil, 0},
		{"a call", said + use("t1", "Bash", `{"command":"make"}`),
			[]string{"SessionStart startup", "PreToolUse Bash make (fix the build)"}, 0},
		{"a search", use("t1", "WebSearch", `{"query":"q","allowed_domains":["a.test"]}`),
			[]string{"SessionStart startup", "PreToolUse WebSearch q"}, 0},
		{"a call that is repeated in the file", use("t1", "Bash", `{"command":"make"}`) + use("t1", "Bash", `{"command":"make"}`),
			[]string{"SessionStart startup", "PreToolUse Bash make"}, 0},
		{"a failure", use("t1", "Bash", `{"command":"make"}`) + result("t1", true, `"Exit code 2\nno rule"`),
			[]string{"SessionStart startup", "PreToolUse Bash make", "PostToolUseFailure Bash make: Exit code 2\nno rule"}, 0},
		{"a failure in blocks", use("t1", "Bash", `{"command":"make"}`) + result("t1", true, `[{"type":"text","text":"Exit code 1"},{"type":"text","text":"x"}]`),
			[]string{"SessionStart startup", "PreToolUse Bash make", "PostToolUseFailure Bash make: Exit code 1\nx"}, 0},
		{"a denial is not a failure", use("t1", "Bash", `{"command":"make"}`) + result("t1", true, `"The user doesn't want to proceed"`),
			[]string{"SessionStart startup", "PreToolUse Bash make"}, 0},
		{"a result", use("t1", "Bash", `{"command":"make"}`) + result("t1", false, `"Exit code 0"`),
			[]string{"SessionStart startup", "PreToolUse Bash make"}, 0},
		{"a compaction", use("t1", "Bash", `{"command":"make"}`) + compact + use("t2", "Bash", `{"command":"ls"}`),
			[]string{"SessionStart startup", "PreToolUse Bash make", "SessionStart compact", "PreToolUse Bash ls"}, 0},
		{"a subagent", subagent, []string{"SubagentStart ", "PreToolUse a1 Bash ls"}, 0},
		{"damage", use("t1", "Bash", `{"command":"make"}`)[:80] + "\"tool_use\"\n" + use("t2", "Bash", `{"command":"ls"}`),
			[]string{"SessionStart startup", "PreToolUse Bash ls"}, 1},
		{"without a last newline", strings.TrimSuffix(use("t1", "Bash", `{"command":"make"}`), "\n"),
			[]string{"SessionStart startup", "PreToolUse Bash make"}, 0},
		{"a line too long", `{"type":"assistant","x":"` + strings.Repeat("x", maxLine) + "\"}\n" + use("t1", "Bash", `{"command":"make"}`),
			[]string{"SessionStart startup", "PreToolUse Bash make"}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			damage, err := Read(strings.NewReader(test.text), func(e Event) error {
				got = append(got, describe(&e))
				return nil
			})
			if err != nil || damage.Lines != test.damaged {
				t.Errorf("damage %+v, error %v", damage, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// describe formats an event on one line.
func describe(e *Event) string {
	s := e.Name
	for _, part := range []string{e.Source, e.Agent, e.Tool, e.Search.Query, e.Command.Line} {
		if part != "" {
			s += " " + part
		}
	}
	if e.Failure != "" {
		s += ": " + e.Failure
	}
	if e.UserText != "" && e.Name == "PreToolUse" {
		s += " (" + e.UserText + ")"
	}
	if e.Name == "SubagentStart" {
		s = "SubagentStart "
	}
	return s
}

func TestReadStops(t *testing.T) {
	stop := errors.New("enough")
	if _, err := Read(strings.NewReader(use("t1", "Bash", `{"command":"make"}`)), func(Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(use("t1", "Bash", `{"command":"make"}`) + result("t1", true, `"Exit code 2"`))
	f.Add(line("system", `"subtype":"compact_boundary"`) + use("t1", "Edit", `{"edits":[{"new_string":"x"}]}`))
	f.Add(line("user", `"message":{"content":"hello"}`) + "{\"tool_use\"\n\n[]")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		damage, err := Read(strings.NewReader(text), func(e Event) error {
			if e.Line < 1 || e.Line > lines || e.Name == "" {
				t.Errorf("event %+v of %d lines", e, lines)
			}
			return nil
		})
		if err != nil || damage.Lines > lines || (damage.Lines > 0) != (damage.First != "") {
			t.Errorf("damage %+v of %d lines, error %v", damage, lines, err)
		}
	})
}
