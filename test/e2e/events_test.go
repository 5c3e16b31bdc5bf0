//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Texts of the notes, the page and the rule of TestEvents, each unique.
const (
	noteSays     = "Wrap errors with the verb %w"
	remedySays   = "unseal the vault with the third key"
	pageSays     = "Caches are kept for seven days"
	artifactsSay = "Artifacts are kept for thirty days"
	runnersSay   = "A runner polls for jobs every ten seconds"
	ruleSays     = "Use kubectx before kubectl."
	pullSays     = "Use gh pr view 42."
	pinnedSays   = "No secrets in the repository"
	beginsSays   = "Local documentation is searchable with the tool mcp__"
	eventsTask   = "Look around in this project."

	eventsSettings = `{"permissions": {"allow": ["Bash", "Write", "Edit"]}}`
	fetchedPage    = "https://docs.example.invalid/ci/caching/"
)

// addTeamFiles adds a database of notes, a database of pages, and a rule.
func (s *session) addTeamFiles(t *testing.T) {
	t.Helper()
	folder := filepath.Join(s.home, "docs")
	for name, text := range map[string]string{
		"notes/errors.md":   "---\napplies_when: {languages: [go]}\n---\n# Error handling in Go\n\n" + noteSays + " and fmt.Errorf, say what was being done when reading a store.\n",
		"notes/vault.md":    "# Vault\n\nERR_VAULT_SEALED says that the vault is sealed: " + remedySays + ".\n",
		"notes/secrets.md":  "---\npinned: true\n---\n# Secrets\n\n" + pinnedSays + ".\n",
		"pages/caching.md":  "# Caching\n\n" + pageSays + ", unless a job says otherwise.\n",
		"pages/artifact.md": "# Artifacts\n\n" + artifactsSay + ", unless a job says otherwise.\n",
		"pages/runner.md":   "# Runners\n\n" + runnersSay + ", and takes one job at a time.\n",
	} {
		s.write(t, filepath.Join(folder, filepath.FromSlash(name)), text)
	}
	data := func(name string) string { return filepath.Join(s.home, ".local", "share", "docsearch", name) }
	for _, name := range []string{"notes", "pages"} {
		s.docsearch(t, "index", "build", filepath.Join(folder, name), "--name", name)
	}
	config, err := json.Marshal(map[string]any{
		"databases": []any{
			map[string]any{"keywords": []string{"team"}, "path": data("notes"), "description": "Conventions of the team", "inject": true},
			map[string]any{"keywords": []string{"example"}, "path": data("pages"), "description": "Pages of an example", "urls": []string{"https://docs.example.invalid/ci/"}},
		},
		"routes": map[string]any{
			"kubectl": map[string]any{"command_pattern": `^\s*kubectl\s`, "message": ruleSays},
			"pull":    map[string]any{"pattern": `github\.com/[^/]+/[^/]+/pull/(\d+)`, "message": "Use gh pr view $1."},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), string(config))
}

// TestEvents checks what the model receives at each event: the databases at the
// start, a note with the first edit that it is about, a passage on a failure,
// the rule's message, the page instead of its fetch, and the databases again in
// a subagent.
func TestEvents(t *testing.T) {
	for _, version := range versions {
		if version == "2.0.30" {
			continue // shows no hook context to the model
		}
		for _, way := range installMethods {
			if way.name != "plugin-dir" && way.name != "install" {
				continue
			}
			t.Run(version+"/"+way.name, func(t *testing.T) {
				s := newSession(t, version)
				s.addTeamFiles(t)
				s.write(t, s.settings(), eventsSettings)
				testEvents(t, s, strings.TrimSuffix(way.tool, "search")+"read", way.set(t, s), false)
			})
		}
	}
}

// testEvents checks the events of a session. asResults reports that answered calls have
// results and are not denied.
func testEvents(t *testing.T, s *session, readTool string, flags []string, asResults bool) {
	write := func(name, text string) map[string]any {
		return map[string]any{"file_path": filepath.Join(s.project, name), "content": text}
	}
	m := newModel(t, func(c conversation) reply {
		if c.startsWith(eventsTask) {
			return say("Nothing to see.")
		}
		results := c.results()
		agent := cmp.Or(c.tool("Agent"), c.tool("Task"))
		switch {
		case len(results["Write"]) == 0:
			return call("write1", "Write", write("store.go", "package store\n\nfunc Read() error { return fmt.Errorf(\"reading\") }\n"))
		case len(results["Write"]) == 1:
			return call("write2", "Write", write("other.go", "package store\n\nfunc Other() error { return fmt.Errorf(\"reading a store\") }\n"))
		case len(results["Bash"]) == 0:
			return call("fail", "Bash", map[string]any{"command": "echo 'fatal: ERR_VAULT_SEALED' >&2; exit 3", "description": "Start the service"})
		case len(results["Bash"]) == 1:
			return call("routed", "Bash", map[string]any{"command": "kubectl get pods", "description": "List the pods"})
		case c.tool("WebFetch") == nil && c.tool("ToolSearch") != nil && len(results["ToolSearch"]) == 0:
			return call("load", "ToolSearch", map[string]any{"query": "select:WebFetch", "max_results": 5})
		case len(results["WebFetch"]) == 0:
			return call("pull", "WebFetch", map[string]any{"url": "https://github.com/o/r/pull/42", "prompt": "What is it about?"})
		case len(results["WebFetch"]) == 1:
			return call("fetch", "WebFetch", map[string]any{"url": fetchedPage, "prompt": "How long are caches kept?"})
		case agent != nil && len(results[agent.Name]) == 0:
			return call("agent", agent.Name, map[string]any{
				"description": "look around", "prompt": eventsTask, "subagent_type": "general-purpose", "run_in_background": false,
			})
		}
		return say("Done.")
	})
	r := s.ask(t, m, "Work on the store.", flags...)
	var last, sub conversation
	for _, c := range m.requests {
		if c.startsWith(eventsTask) {
			sub = c
		} else {
			last = c
		}
	}
	seen, results := last.text(), last.results()
	defer func() {
		if t.Failed() {
			t.Logf("the model saw\n%s\nthe subagent saw\n%s\nclient output:\n%s", seen, sub.text(), r)
		}
	}()
	once := func(event, text, in string) {
		t.Helper()
		if n := strings.Count(in, text); n != 1 {
			t.Errorf("%s: the model saw %q %d times, want once", event, text, n)
		}
	}
	once("start", beginsSays, m.requests[0].text())
	once("start, later", beginsSays, seen)
	once("pinned", pinnedSays, seen)
	once("edits", noteSays, seen)
	once("failure", remedySays, seen)
	once("subagent's start", beginsSays, sub.text())
	denied := func(tool string, i int, says ...string) {
		t.Helper()
		if len(results[tool]) <= i || !results[tool][i].IsError {
			t.Fatalf("%s, call %d: results %v, want a denial", tool, i+1, results[tool])
		}
		for _, text := range says {
			if got := results[tool][i].Content.text(); !strings.Contains(got, text) {
				t.Errorf("%s was denied with %q, want %q in it", tool, got, text)
			}
		}
	}
	denied("Bash", 1, ruleSays)
	denied("WebFetch", 0, pullSays)
	if asResults {
		if len(results["WebFetch"]) < 2 || results["WebFetch"][1].IsError || !strings.Contains(results["WebFetch"][1].Content.text(), "Read from local documentation (") {
			t.Errorf("the results of the fetches are %v", results["WebFetch"])
		}
	} else {
		denied("WebFetch", 1, "Read from local documentation (", "); the page was not fetched.")
	}
	if !strings.Contains(seen, "This is the whole page from ") || !strings.Contains(seen, pageSays) || !strings.Contains(seen, "\n"+readTool+` {"path": `) {
		t.Error("the model did not see the page and the call that reads it")
	}
	if strings.Contains(seen, "requested permissions") || r.stderr != "" || len(m.strays) > 0 {
		t.Errorf("stderr %q, strays %q", r.stderr, m.strays)
	}
	if trace := s.docsearch(t, "inject", "trace", r.init.Session); !strings.Contains(trace, "PreToolUse Write") || !strings.Contains(trace, "PostToolUseFailure Bash") {
		t.Errorf("the trace is\n%s", trace)
	}
}

// After a compaction, the model receives the session context again, once.
func TestCompaction(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			if version == "2.0.30" {
				t.Skip("skipped: this version shows the model no context")
			}
			s := newSession(t, version)
			s.addTeamFiles(t)
			s.write(t, s.settings(), eventsSettings)
			s.docsearch(t, "install")
			m := newModel(t, func(c conversation) reply {
				// The client does not compact shorter conversations.
				if n := len(c.results()["Bash"]); c.startsWith("Begin.") && n < 6 {
					return call(fmt.Sprint("true", n), "Bash", map[string]any{"command": "true", "description": "Do nothing"})
				}
				return say("Done.")
			})
			first := s.ask(t, m, "Begin.")
			resume := []string{"--resume", first.init.Session}
			s.ask(t, m, "/compact", resume...)
			r := s.ask(t, m, "Go on.", resume...)
			trace := s.docsearch(t, "inject", "trace", first.init.Session)
			if !strings.Contains(trace, "SessionStart compact") {
				t.Errorf("the client did not compact:\n%s\nclient output:\n%s", trace, r)
			}
			last := m.requests[len(m.requests)-1]
			if seen := last.text(); strings.Count(seen, beginsSays) != 1 || strings.Count(seen, pinnedSays) != 1 {
				t.Errorf("after a compaction the model saw\n%s\nclient output:\n%s\nthe trace is\n%s", seen, r, trace)
			}
		})
	}
}
