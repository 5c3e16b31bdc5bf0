//go:build e2e

package e2e

import (
	"cmp"
	"strings"
	"testing"
)

// A subagent receives neither the server's instructions nor the context of the
// session start, and newer clients give it only the name of the tool. The
// denial alone must suffice.
func TestSubagent(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := newSession(t, version)
			s.database(t)
			s.write(t, s.settings(), settings)
			s.docsearch(t, "install")
			const task = "Find out by a web search how a denied web search goes through."
			m := newModel(t, func(c conversation) reply {
				if c.startsWith(task) {
					return searchingModel(c)
				}
				agent := cmp.Or(c.tool("Agent"), c.tool("Task"))
				if agent == nil || len(c.results()[agent.Name]) > 0 {
					return say("Done.")
				}
				return call("agent", agent.Name, map[string]any{
					"description": "search the web", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false,
				})
			})
			r := s.ask(t, m, "Let an agent find out.")
			var last *conversation
			for i := range m.requests {
				if m.requests[i].startsWith(task) {
					last = &m.requests[i]
				}
			}
			if last == nil {
				t.Fatalf("no subagent asked the model; the client said\n%s", r)
			}
			results := last.results()
			searches := results["WebSearch"]
			if len(searches) != 2 || !searches[0].IsError || searches[1].IsError ||
				!strings.Contains(searches[0].Content.text(), "; the web search was not run.") ||
				!strings.Contains(searches[1].Content.text(), webResult) {
				t.Errorf("the subagent's web searches had the results %v", searches)
			}
			if answers := results["mcp__docsearch__search"]; len(answers) != 1 || answers[0].IsError || !returnsFurther(version, answers[0].Content.text()) {
				t.Errorf("the call that the denial names returned %v", answers)
			}
			if t.Failed() {
				t.Logf("the subagent saw\n%s\nthe client said\n%s", last.text(), r)
			}
		})
	}
}

// startsWith reports whether the conversation starts with the task.
func (c conversation) startsWith(task string) bool {
	return len(c.Messages) > 0 && strings.Contains(c.Messages[0].Content.text(), task)
}
