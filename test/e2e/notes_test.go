//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Texts of TestNotes.
const (
	noteTool    = "mcp__docsearch__note_add"
	updateTool  = "mcp__docsearch__note_update"
	lessonSays  = "Run make generate before each commit."
	updatedSays = "Run make generate and make lint before each commit."
)

// notesSession returns a session whose config names a folder of notes.
func notesSession(t *testing.T, version, permissions string) *session {
	t.Helper()
	s := newSession(t, version)
	s.write(t, filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"),
		`{"databases": [{"name": "team", "keywords": ["team notes"], "path": "~/.local/share/docsearch/team", "description": "Team notes", "notes": "~/notes"}]}`)
	s.write(t, s.settings(), `{"permissions": {"allow": [`+permissions+`]}}`)
	s.docsearch(t, "install")
	return s
}

// calling returns a model that makes one call, after it has loaded its tool.
func calling(name string, input map[string]any) func(conversation) reply {
	return func(c conversation) reply {
		results := c.results()
		switch {
		case len(results[name]) > 0:
			return say("Done.")
		case c.tool(name) == nil && c.tool("ToolSearch") != nil && len(results["ToolSearch"]) == 0:
			return call("load", "ToolSearch", map[string]any{"query": "select:" + name, "max_results": 5})
		}
		return call("call", name, input)
	}
}

// last returns the last request of the conversation.
func (m *model) last(t *testing.T) conversation {
	t.Helper()
	if len(m.requests) == 0 {
		t.Fatal("the client did not ask the model")
	}
	return m.requests[len(m.requests)-1]
}

// TestNotes checks that a session writes a note, with the user's permission only,
// that a note about the same subject becomes an update, and that the next session
// sees it.
func TestNotes(t *testing.T) {
	lesson := map[string]any{"title": "Before a commit", "text": lessonSays, "commands": []string{"git commit"}}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := notesSession(t, version, `"Bash"`)
			note := filepath.Join(s.home, "notes", "before-a-commit.md")

			m := newModel(t, calling(noteTool, lesson))
			r := s.ask(t, m, "You forgot to run make generate. Remember that.")
			if results := m.last(t).results()[noteTool]; len(results) != 1 || !results[0].IsError || len(r.result.Denials) != 1 || r.result.Denials[0].Tool != noteTool {
				t.Fatalf("without permission, the call returned %v, denied %v\n%s", results, r.result.Denials, r)
			}
			if _, err := os.Stat(note); err == nil {
				t.Fatal("the note was written without permission")
			}

			s.write(t, s.settings(), strings.Replace(read(t, s.settings()), `"Bash"`, `"Bash", "`+noteTool+`", "`+updateTool+`"`, 1))
			m = newModel(t, calling(noteTool, lesson))
			r = s.ask(t, m, "You forgot to run make generate. Remember that.")
			if results := m.last(t).results()[noteTool]; len(results) != 1 || results[0].IsError || !strings.Contains(results[0].Content.text(), "Added before-a-commit.md in team") {
				t.Fatalf("with permission, the call returned %v\n%s", results, r)
			}
			if text := read(t, note); !strings.Contains(text, lessonSays) {
				t.Fatalf("the note is %q", text)
			}

			m = newModel(t, updatingModel)
			r = s.ask(t, m, "Also run make lint before a commit. Remember that.")
			results := m.last(t).results()
			if adds := results[noteTool]; len(adds) != 1 || !strings.Contains(adds[0].Content.text(), "Nothing was written: 1 note is similar.") {
				t.Errorf("a note about the same subject returned %v\n%s", adds, r)
			}
			if text := read(t, note); !strings.Contains(text, updatedSays) || strings.Contains(text, lessonSays) {
				t.Errorf("the updated note is %q; the update returned %v", text, results[updateTool])
			}

			if version == "2.0.30" {
				return // shows no hook context to the model
			}
			m = newModel(t, calling("Bash", map[string]any{"command": "git commit --dry-run; true", "description": "Commit"}))
			r = s.ask(t, m, "Commit.")
			if seen := m.last(t).text(); strings.Count(seen, updatedSays) != 1 {
				t.Errorf("the next session saw\n%s\nthe client said\n%s", seen, r)
			}
		})
	}
}

// updatingModel adds a note and, if there is a similar one, updates that.
func updatingModel(c conversation) reply {
	results := c.results()
	switch adds := results[noteTool]; {
	case len(adds) == 0:
		return calling(noteTool, map[string]any{"title": "Checks before a commit", "text": updatedSays})(c)
	case len(results[updateTool]) > 0:
		return say("Done.")
	case c.tool(updateTool) == nil && c.tool("ToolSearch") != nil && len(results["ToolSearch"]) < 2:
		return call("load2", "ToolSearch", map[string]any{"query": "select:" + updateTool, "max_results": 5})
	default:
		_, rest, _ := strings.Cut(adds[0].Content.text(), "(version ")
		version, _, _ := strings.Cut(rest, ")")
		return call("update", updateTool, map[string]any{"name": "before-a-commit.md", "version": version, "text": updatedSays})
	}
}

// TestNoteCoverage checks that coverage reads the client's own transcripts: a command that
// fails in two sessions, and the user's correction of the second one.
func TestNoteCoverage(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := notesSession(t, version, `"Bash"`)
			for range 2 {
				s.ask(t, newModel(t, calling("Bash", map[string]any{"command": "git fetch mirror", "description": "Fetch the packages"})), "Fetch the packages.")
			}
			s.ask(t, newModel(t, func(conversation) reply { return say("Done.") }), "No, never bypass the registry mirror, restart it with make mirror.", "--continue")
			out := s.docsearch(t, "note", "coverage", "--json")
			var report struct {
				Calls int
				Gaps  []struct {
					Kind  string
					Calls []struct{ Call, Need, Text string }
				}
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if report.Calls != 2 || len(report.Gaps) != 1 || report.Gaps[0].Kind != "no_note" {
				t.Fatalf("coverage reports %s", out)
			}
			if g := report.Gaps[0]; g.Calls[0].Need != "corrected" || !strings.Contains(g.Calls[0].Text, "restart it with make mirror") || g.Calls[0].Call != "Bash git fetch mirror" {
				t.Errorf("coverage reports %s", out)
			}
		})
	}
}
