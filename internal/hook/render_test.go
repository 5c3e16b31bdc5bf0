package hook

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/hook/event"
)

func TestRender(t *testing.T) {
	deny := Decision{Verdict: Deny, Reason: "R <1>", Context: "C"}
	allow := Decision{Verdict: Allow, Reason: "R <1>"}
	ask := Decision{Verdict: Ask, Reason: "R <1>"}
	advise := Decision{Context: "C"}
	type object = map[string]any
	nested := func(keys object) object {
		keys["hookEventName"] = "PreToolUse"
		return keys
	}
	claudeDeny := nested(object{"permissionDecision": "deny", "permissionDecisionReason": "R <1>", "additionalContext": "C"})
	claudeAllow := nested(object{"permissionDecision": "allow", "permissionDecisionReason": "R <1>"})
	claudeAsk := nested(object{"permissionDecision": "ask", "permissionDecisionReason": "R <1>"})
	claudeContext := nested(object{"additionalContext": "C"})
	for _, test := range []struct {
		name     string
		host     event.Host
		decision Decision
		stdout   object
		stderr   string
		code     int
	}{
		{"claude denies", event.Claude, deny, object{"hookSpecificOutput": claudeDeny}, "R <1>", 2},
		{"claude allows", event.Claude, allow, object{"hookSpecificOutput": claudeAllow}, "", 0},
		{"claude asks", event.Claude, ask, object{"hookSpecificOutput": claudeAsk}, "", 0},
		{"claude advises", event.Claude, advise, object{"hookSpecificOutput": claudeContext}, "", 0},
		{"claude passes", event.Claude, Decision{}, nil, "", 0},
		{"cursor denies", event.Cursor, deny, object{
			"permission": "deny", "user_message": "R <1>", "agent_message": "R <1>\n\nC", "hookSpecificOutput": claudeDeny,
		}, "R <1>", 0},
		{"cursor allows", event.Cursor, allow, object{"permission": "allow", "hookSpecificOutput": claudeAllow}, "", 0},
		{"cursor asks", event.Cursor, ask, object{
			"permission": "ask", "user_message": "R <1>", "agent_message": "R <1>", "hookSpecificOutput": claudeAsk,
		}, "", 0},
		{"cursor takes no advice", event.Cursor, advise, nil, "", 0},
		{"copilot denies", event.Copilot, deny, object{
			"permissionDecision": "deny", "permissionDecisionReason": "R <1>\n\nC", "hookSpecificOutput": claudeDeny,
		}, "R <1>", 0},
		{"copilot allows", event.Copilot, allow, object{
			"permissionDecision": "allow", "permissionDecisionReason": "R <1>", "hookSpecificOutput": claudeAllow,
		}, "", 0},
		{"copilot asks", event.Copilot, ask, object{
			"permissionDecision": "ask", "permissionDecisionReason": "R <1>", "hookSpecificOutput": claudeAsk,
		}, "", 0},
		{"copilot advises", event.Copilot, advise, object{"additionalContext": "C", "hookSpecificOutput": claudeContext}, "", 0},
		{"gemini denies", event.Gemini, deny, object{"decision": "deny", "reason": "R <1>\n\nC"}, "R <1>\n\nC", 2},
		{"gemini needs no permission", event.Gemini, allow, nil, "", 0},
		{"gemini cannot ask", event.Gemini, ask, object{"decision": "deny", "reason": "R <1>"}, "R <1>", 2},
		{"gemini takes no advice", event.Gemini, advise, nil, "", 0},
		{"codex denies", event.Codex, deny, object{"hookSpecificOutput": nested(object{
			"permissionDecision": "deny", "permissionDecisionReason": "R <1>\n\nC",
		})}, "R <1>\n\nC", 2},
		{"codex takes no permission", event.Codex, allow, nil, "", 0},
		{"codex cannot ask", event.Codex, ask, object{"hookSpecificOutput": nested(object{
			"permissionDecision": "deny", "permissionDecisionReason": "R <1>",
		})}, "R <1>", 2},
		{"codex takes no advice", event.Codex, advise, nil, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.decision.Event = event.PreToolUse
			got := render(test.host, test.decision)
			var stdout object
			if len(got.stdout) > 0 {
				if err := json.Unmarshal(got.stdout, &stdout); err != nil {
					t.Fatalf("%s: %v", got.stdout, err)
				}
			}
			if diff := cmp.Diff(test.stdout, stdout); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if got.stderr != test.stderr || got.code != test.code {
				t.Errorf("stderr %q, code %d; want %q, %d", got.stderr, got.code, test.stderr, test.code)
			}
		})
	}
}
