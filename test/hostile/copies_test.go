package hostile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// writeRedirectConfig configures a database that another server searches, so
// that every search with its keyword is denied.
func (s *sandbox) writeRedirectConfig() {
	s.Helper()
	db := filepath.Join(s.home, "db")
	s.write(filepath.Join(db, "README"), "Another server's.\n")
	s.configure(map[string]any{"databases": []any{map[string]any{
		"keywords": []string{"gitlab"}, "path": db, "description": "GitLab documentation", "mcp_tool_name": "mcp__leann__search",
	}}})
}

// configure writes the config file.
func (s *sandbox) configure(config map[string]any) {
	s.Helper()
	data, err := json.Marshal(config)
	if err != nil {
		s.Fatal(err)
	}
	s.write(filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), string(data))
}

// A searchEvent is the event of a web search.
type searchEvent struct{ session, agent, use, query string }

func (e searchEvent) String() string {
	event := map[string]any{
		"session_id": e.session, "hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]any{"query": e.query}, "cwd": "/",
	}
	if e.agent != "" {
		event["agent_id"], event["agent_type"] = e.agent, "general-purpose"
	}
	if e.use != "" {
		event["tool_use_id"] = e.use
	}
	data, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// runHooksAtOnce runs hooks concurrently and returns their results in order.
func (s *sandbox) runHooksAtOnce(events ...searchEvent) []result {
	results := make([]result, len(events))
	var group sync.WaitGroup
	for i, e := range events {
		group.Go(func() { results[i] = s.hook(e.String()) })
	}
	group.Wait()
	return results
}

// denies reports whether a client would deny the call. In every client that
// runs several hooks, a single denial is enough.
func denies(results ...result) bool {
	for _, r := range results {
		if r.code == 2 || strings.Contains(r.stdout, `"permissionDecision":"deny"`) {
			return true
		}
	}
	return false
}

// generateLoad keeps the machine busy until the test ends.
func generateLoad(t *testing.T) {
	var stop atomic.Bool
	var group sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		group.Go(func() {
			for !stop.Load() {
			}
		})
	}
	t.Cleanup(func() { stop.Store(true); group.Wait() })
}

// With two copies of the hook, as after an installation in addition to the
// plugin, a search is denied once, and its retry runs.
func TestTwoCopies(t *testing.T) {
	s := newSandbox(t)
	s.writeRedirectConfig()
	s.env = append(s.env, "DOCSEARCH_HOOK_TIMEOUT_MS=60000")
	generateLoad(t)
	rounds := 12
	if nightly {
		rounds = 100
	}
	for i := range rounds {
		session, agent := fmt.Sprint("s", i), ""
		if i%2 == 1 {
			agent = "a1"
		}
		denied := searchEvent{session, agent, "toolu_1", "gitlab ci"}
		retry := searchEvent{session, agent, "toolu_2", "gitlab ci"}
		again := searchEvent{session, agent, "toolu_3", "gitlab ci"}
		var first, second, third []result
		if i%4 < 2 { // concurrently
			first, second, third = s.runHooksAtOnce(denied, denied), s.runHooksAtOnce(retry, retry), s.runHooksAtOnce(again, again)
		} else { // one after the other
			first = []result{s.hook(denied.String()), s.hook(denied.String())}
			second = []result{s.hook(retry.String()), s.hook(retry.String())}
			third = []result{s.hook(again.String()), s.hook(again.String())}
		}
		for j, r := range first {
			if !denies(r) {
				t.Errorf("round %d: copy %d of the first call does not deny: %+v", i, j, r)
			}
		}
		if denies(second...) {
			t.Errorf("round %d: the retry is denied: %+v", i, second)
		}
		if !denies(third...) {
			t.Errorf("round %d: the same search after its retry is not denied: %+v", i, third)
		}
		if t.Failed() {
			return
		}
	}
}

// Only the agent whose search was denied can use the escape hatch.
func TestSubagentsHaveTheirOwnHatch(t *testing.T) {
	s := newSandbox(t)
	s.writeRedirectConfig()
	for i, step := range []struct {
		agent  string
		denied bool
	}{{"", true}, {"a", true}, {"b", true}, {"a", false}, {"", false}, {"b", false}, {"a", true}} {
		e := searchEvent{"s", step.agent, fmt.Sprint("toolu_", i), "gitlab ci"}
		if got := denies(s.runHooksAtOnce(e, e)...); got != step.denied {
			t.Errorf("step %d, agent %q: denied %t, want %t", i, step.agent, got, step.denied)
		}
	}
}

// A session records all of its concurrent searches.
func TestParallelSearches(t *testing.T) {
	const n = 60
	s := newSandbox(t)
	s.writeRedirectConfig()
	s.env = append(s.env, "DOCSEARCH_HOOK_TIMEOUT_MS=60000")
	var searches, retries []searchEvent
	for i := range n {
		searches = append(searches, searchEvent{"s", "", fmt.Sprint("toolu_", i), fmt.Sprint("gitlab ", i)})
		retries = append(retries, searchEvent{"s", "", fmt.Sprint("toolu_r", i), fmt.Sprint("gitlab ", i)})
	}
	for i, r := range s.runHooksAtOnce(searches...) {
		if !denies(r) {
			t.Errorf("search %d is not denied: %+v", i, r)
		}
	}
	for i, r := range s.runHooksAtOnce(retries...) {
		if denies(r) {
			t.Errorf("the retry of search %d is denied", i)
		}
	}
}
