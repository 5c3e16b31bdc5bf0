//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// With two copies of the hook, a search is denied once, and its retry runs on
// the web.
func TestTwoCopies(t *testing.T) {
	for _, version := range versions {
		for _, pair := range []struct {
			name string
			set  func(*testing.T, *session) (flags []string)
		}{
			{"plugin and install", func(t *testing.T, s *session) []string {
				s.docsearch(t, "install")
				return []string{"--plugin-dir", pluginWithProgram(t)}
			}},
			{"user and project", func(t *testing.T, s *session) []string {
				s.docsearch(t, "install")
				// As in a teammate's checkout at another path.
				s.write(t, filepath.Join(s.project, ".claude", "settings.json"), `{"hooks": {"PreToolUse": [
  {"matcher": "WebSearch|WebFetch", "hooks": [{"type": "command", "command": "'`+program(t)+`' hook || true"}]}]}}`)
				return nil
			}},
		} {
			t.Run(version+"/"+pair.name, func(t *testing.T) {
				s := newSession(t, version)
				s.database(t)
				s.write(t, s.settings(), settings)
				flags := pair.set(t, s)
				m := newModel(t, func(c conversation) reply {
					search := map[string]any{"query": question}
					switch results := c.results(); {
					case c.tool("WebSearch") == nil && len(results["ToolSearch"]) == 0 && c.tool("ToolSearch") != nil:
						return call("load", "ToolSearch", map[string]any{"query": "select:WebSearch", "max_results": 5})
					case len(results["WebSearch"]) == 0:
						return call("first", "WebSearch", search)
					case len(results["WebSearch"]) == 1:
						return call("second", "WebSearch", search)
					}
					return say("Done.")
				})
				r := s.ask(t, m, "How does a denied web search go through?", flags...)
				if len(m.requests) == 0 {
					t.Fatalf("the model was not asked; the client said\n%s", r)
				}
				last := m.requests[len(m.requests)-1]
				searches := last.results()["WebSearch"]
				if len(searches) != 2 || !searches[0].IsError || searches[1].IsError || !strings.Contains(searches[1].Content.text(), webResult) {
					t.Fatalf("the web searches had the results %v\nthe model saw\n%s", searches, last.text())
				}
				if len(m.searches) != 1 {
					t.Errorf("these searches went to the web: %q, want one", m.searches)
				}
				// The client shows the reason of one of the two denials, and both contexts.
				answer := sentence
				if version == "2.0.30" { // shows no context, and both reasons
					answer = "\n> "
				}
				if seen := last.text(); !strings.Contains(seen, answer) || !strings.Contains(seen, "(docsearch); the web search was not run.") {
					t.Errorf("the model did not see the answer:\n%s", seen)
				}
			})
		}
	}
}
