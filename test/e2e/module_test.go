//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// With the module on, an answered search has a result in place of an error. The
// retry runs on the web.
func TestModule(t *testing.T) {
	s := newSession(t, moduleVersion)
	s.database(t)
	s.write(t, s.settings(), settings)
	s.setenv("DOCSEARCH_MODULES", "1")
	m := newModel(t, searchingModel)
	r := s.ask(t, m, "How does a denied web search go through?", "--plugin-dir", pluginWithProgram(t))
	checkModule(t, m, r)
}

// moduleVersion is the version of Claude Code that has modules.
const moduleVersion = "2.1.328"

func checkModule(t *testing.T, m *model, r run) {
	t.Helper()
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
}
