//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// moduleVersion is the version of Claude Code that has hooks modules.
const moduleVersion = "2.1.332"

// With the module, an answered search has a result in place of an error, and the retry
// runs on the web.
func TestModule(t *testing.T) {
	t.Run("plugin", func(t *testing.T) {
		s := moduleSession(t)
		s.setenv("DOCSEARCH_MODULES", "1")
		checkAnsweredByModule(t, s, "--plugin-dir", pluginWithProgram(t))
	})
	t.Run("install", func(t *testing.T) {
		s := moduleSession(t)
		s.docsearch(t, "install", "--modules")
		checkAnsweredByModule(t, s)
		s.docsearch(t, "uninstall")
		if got := read(t, s.settings()); got != settings {
			t.Errorf("uninstall left the settings as\n%s", got)
		}
	})
}

// Without a usable answer of its program, the module leaves the call to the command hook.
func TestModuleFaults(t *testing.T) {
	for name, script := range map[string]string{
		"missing program": "",
		"crash":           "kill -SEGV $$",
		"wrong output":    "echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"deny\"'; exit 2",
		"other decision":  "echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"allow\", \"additionalContext\": \"x\"}}'; exit 2",
		"no decision":     "exit 0",
		"time-out":        "exec sleep 30",
	} {
		t.Run(name, func(t *testing.T) {
			s := moduleSession(t)
			s.docsearch(t, "install", "--modules")
			faulty := filepath.Join(s.home, "faulty")
			if script != "" {
				s.writeProgram(t, faulty, "#!/bin/sh\n"+script+"\n")
			}
			module := filepath.Join(s.home, ".claude", "skills", "docsearch", "register.ts")
			text := strings.Replace(read(t, module), hookProgram(t), faulty, 1)
			if !strings.Contains(text, faulty) {
				t.Fatalf("the module does not name the program:\n%s", text)
			}
			s.write(t, module, text)
			m := newModel(t, searchingModel)
			r := s.ask(t, m, "How does a denied web search go through?")
			checkSearch(t, moduleVersion, "mcp__docsearch__search", m, r)
		})
	}
}

// The module changes nothing for rules, notes, failures, and calls without an answer.
func TestModuleEvents(t *testing.T) {
	s := newSession(t, moduleVersion)
	s.addTeamFiles(t)
	s.write(t, s.settings(), eventsSettings)
	s.docsearch(t, "install", "--modules")
	testEvents(t, s, "mcp__docsearch__read", nil, true)
}

func moduleSession(t *testing.T) *session {
	t.Helper()
	s := newSession(t, moduleVersion)
	s.database(t)
	config := filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json")
	s.write(t, config, strings.Replace(read(t, config), `"keywords"`, `"urls": ["https://docs.example/"], "keywords"`, 1))
	s.write(t, s.settings(), settings)
	return s
}

func checkAnsweredByModule(t *testing.T, s *session, flags ...string) {
	t.Helper()
	m := newModel(t, searchingModel)
	r := s.ask(t, m, "How does a denied web search go through?", flags...)
	if len(m.requests) == 0 {
		t.Fatalf("the model was not asked; the client said\n%s", r)
	}
	last := m.requests[len(m.requests)-1]
	defer func() {
		if t.Failed() {
			t.Logf("the model saw\n%s\nthe client said\n%s", last.text(), r)
		}
	}()
	searches := last.results()["WebSearch"]
	if len(searches) != 2 {
		t.Fatalf("the model has the results of %d web searches, want 2", len(searches))
	}
	answer := searches[0].Content.text()
	if searches[0].IsError || !strings.Contains(answer, "Found in local documentation (") || !strings.Contains(answer, sentence) {
		t.Errorf("the first search returned %s", answer)
	}
	if !strings.Contains(answer, "Links: ") || !strings.Contains(answer, "https://docs.example/hook") {
		t.Errorf("the first search has no links: %s", answer)
	}
	if !strings.Contains(r.stdout, `"searchCount":1`) {
		t.Errorf("the person does not see the search: %s", r.stdout)
	}
	if searches[1].IsError || !strings.Contains(searches[1].Content.text(), webResult) || len(m.searches) != 1 {
		t.Errorf("the repeated search returned %s; searches on the web: %q", searches[1].Content.text(), m.searches)
	}
	for name, blocks := range last.results() {
		for _, b := range blocks {
			if b.IsError {
				t.Errorf("%s returned an error: %s", name, b.Content.text())
			}
		}
	}
	if len(r.result.Denials) > 0 || strings.Contains(last.text(), "hook error") || r.stderr != "" || len(m.strays) > 0 {
		t.Errorf("denials %v, stderr %q, strays %q", r.result.Denials, r.stderr, m.strays)
	}
	if stats := s.docsearch(t, "stats"); !regexp.MustCompile(`(?m)^ +1 +denied, then searched the web$`).MatchString(stats) {
		t.Errorf("the event log does not count each search once:\n%s", stats)
	}
}
