package hook

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		host     Host
		decision Decision
		stdout   object
		stderr   string
		code     int
	}{
		{"claude denies", Claude, deny, object{"hookSpecificOutput": claudeDeny}, "R <1>", 2},
		{"claude allows", Claude, allow, object{"hookSpecificOutput": claudeAllow}, "", 0},
		{"claude asks", Claude, ask, object{"hookSpecificOutput": claudeAsk}, "", 0},
		{"claude advises", Claude, advise, object{"hookSpecificOutput": claudeContext}, "", 0},
		{"claude passes", Claude, Decision{}, nil, "", 0},
		{"cursor denies", Cursor, deny, object{
			"permission": "deny", "user_message": "R <1>", "agent_message": "R <1>\n\nC", "hookSpecificOutput": claudeDeny,
		}, "R <1>", 0},
		{"cursor allows", Cursor, allow, object{"permission": "allow", "hookSpecificOutput": claudeAllow}, "", 0},
		{"cursor asks", Cursor, ask, object{
			"permission": "ask", "user_message": "R <1>", "agent_message": "R <1>", "hookSpecificOutput": claudeAsk,
		}, "", 0},
		{"cursor takes no advice", Cursor, advise, nil, "", 0},
		{"copilot denies", Copilot, deny, object{
			"permissionDecision": "deny", "permissionDecisionReason": "R <1>\n\nC", "hookSpecificOutput": claudeDeny,
		}, "R <1>", 0},
		{"copilot allows", Copilot, allow, object{
			"permissionDecision": "allow", "permissionDecisionReason": "R <1>", "hookSpecificOutput": claudeAllow,
		}, "", 0},
		{"copilot asks", Copilot, ask, object{
			"permissionDecision": "ask", "permissionDecisionReason": "R <1>", "hookSpecificOutput": claudeAsk,
		}, "", 0},
		{"copilot advises", Copilot, advise, object{"additionalContext": "C", "hookSpecificOutput": claudeContext}, "", 0},
		{"gemini denies", Gemini, deny, object{"decision": "deny", "reason": "R <1>\n\nC"}, "R <1>\n\nC", 2},
		{"gemini needs no permission", Gemini, allow, nil, "", 0},
		{"gemini cannot ask", Gemini, ask, object{"decision": "deny", "reason": "R <1>"}, "R <1>", 2},
		{"gemini takes no advice", Gemini, advise, nil, "", 0},
		{"codex denies", Codex, deny, object{"hookSpecificOutput": nested(object{
			"permissionDecision": "deny", "permissionDecisionReason": "R <1>\n\nC",
		})}, "R <1>\n\nC", 2},
		{"codex takes no permission", Codex, allow, nil, "", 0},
		{"codex cannot ask", Codex, ask, object{"hookSpecificOutput": nested(object{
			"permissionDecision": "deny", "permissionDecisionReason": "R <1>",
		})}, "R <1>", 2},
		{"codex takes no advice", Codex, advise, nil, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.decision.Event = preToolUse
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
