package hostile

import (
	"fmt"
	"path/filepath"
	"testing"
)

// Each of 200 concurrent hooks of several sessions returns the right decision.
// On an idle machine they meet the default deadline, but a test cannot require
// that.
func TestManyConcurrentHooks(t *testing.T) {
	const n = 200
	s := newSandbox(t)
	s.writeRedirectConfig()
	s.mkdir(filepath.Join(s.home, ".cache"))
	s.env = append(s.env, "DOCSEARCH_HOOK_TIMEOUT_MS=60000")
	s.hook(searchEvent{session: "warm", query: "rice"}.String()) // writes a snapshot
	var events []searchEvent
	for i := range n {
		query := "cooking rice"
		if i%2 == 0 {
			query = fmt.Sprint("gitlab ci ", i)
		}
		events = append(events, searchEvent{fmt.Sprint("s", i%5), "", fmt.Sprint("toolu_", i), query})
	}
	for i, r := range s.runHooksAtOnce(events...) {
		if got, want := denies(r), i%2 == 0; got != want {
			t.Errorf("hook %d: denied %t, want %t: %+v", i, got, want, r)
		}
	}
	retries := make([]searchEvent, 0, n/2)
	for i, e := range events {
		if i%2 == 0 {
			e.use += "-retry"
			retries = append(retries, e)
		}
	}
	for i, r := range s.runHooksAtOnce(retries...) {
		if denies(r) {
			t.Errorf("retry %d is denied", i)
		}
	}
}
