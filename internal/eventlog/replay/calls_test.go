package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func said(text string) string {
	return line("user", fmt.Sprintf(`"message":{"content":%q}`, text))
}

func TestCalls(t *testing.T) {
	const refused = `The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).`
	makes, edits := use("t1", "Bash", `{"command":"make"}`), use("t2", "Edit", `{"file_path":"a.go"}`)
	stop := said("[Request interrupted by user for tool use]")
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", said("hello"), nil},
		{"a failure", makes + result("t1", true, `"Exit code 2\nno rule"`) + edits,
			[]string{"0 t1 failed: Exit code 2\nno rule", "0 t2"}},
		{"a result", makes + result("t1", false, `"Exit code 2"`), []string{"0 t1"}},
		{"the next message", said("build it") + makes + edits + said("now test it") + use("t3", "Bash", `{"command":"make test"}`),
			[]string{"1 t1 reply: now test it", "1 t2 reply: now test it", "2 t3"}},
		{"rejected with a reason", makes + result("t1", true, fmt.Sprintf("%q", refused+" To tell you how to proceed, the user said:\nUse ninja.")) + said("go on"),
			[]string{"0 t1 rejected reply: Use ninja."}},
		{"rejected with a reason and the client's advice", makes + result("t1", true, fmt.Sprintf("%q", refused+" To tell you how to proceed, the user said:\nUse ninja.\n\nNote: The user's next message may contain a correction.")),
			[]string{"0 t1 rejected reply: Use ninja."}},
		{"rejected without a reason", makes + edits + result("t2", true, fmt.Sprintf("%q", refused+" STOP what you are doing.")) + stop + said("Ask first."),
			[]string{"0 t1 reply: Ask first.", "0 t2 rejected reply: Ask first."}},
		{"interrupted", makes + said("[Request interrupted by user]") + said("Not that one."), []string{"0 t1 rejected reply: Not that one."}},
		{"interrupted before a call", said("[Request interrupted by user]") + makes, []string{"0 t1"}},
		{"denied by a hook", makes + result("t1", true, `"PreToolUse:Bash hook error: no"`), []string{"0 t1"}},
		{"repeated", makes + makes, []string{"0 t1"}},
		{"a long message", makes + said(strings.Repeat("é", maxReply)), []string{"0 t1 reply: " + strings.Repeat("é", maxReply/2)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls, damage, err := Calls(strings.NewReader(test.text), func(*Event) bool { return true })
			if err != nil || damage.Lines > 0 {
				t.Fatalf("damage %+v, error %v", damage, err)
			}
			var got []string
			for _, c := range calls {
				s := fmt.Sprint(c.Turn, " ", c.ID)
				if c.Failure != "" {
					s += " failed: " + c.Failure
				}
				if c.Rejected {
					s += " rejected"
				}
				if c.Reply != "" {
					s += " reply: " + c.Reply
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	calls, _, err := Calls(strings.NewReader(makes+edits), func(e *Event) bool { return e.Tool == "Edit" })
	if err != nil || len(calls) != 1 || calls[0].Tool != "Edit" {
		t.Errorf("selected %+v, error %v", calls, err)
	}
}

func FuzzCalls(f *testing.F) {
	f.Add(use("t1", "Bash", `{"command":"make"}`) + result("t1", true, `"Exit code 2"`) + said("No."))
	f.Add(use("t1", "Bash", `{}`) + said("[Request interrupted by user]") + said("Ask."))
	f.Fuzz(func(t *testing.T, text string) {
		calls, _, err := Calls(strings.NewReader(text), func(*Event) bool { return true })
		for i := range calls {
			if len(calls[i].Reply) > maxReply || i > 0 && calls[i].Turn < calls[i-1].Turn {
				t.Errorf("call %+v", calls[i])
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}
