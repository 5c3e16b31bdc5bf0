package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/hook/event"
)

func at(seconds int64) time.Time { return time.Unix(1_763_635_277+seconds, 0) }

func deny(query string) Change   { return Change{Deny: &Call{Search: event.Search{Query: query}}} }
func permit(query string) Change { return Change{Permit: &Call{Search: event.Search{Query: query}}} }

func update(t *testing.T, s Store, session string, c Change, now time.Time) {
	t.Helper()
	if err := s.Update(session, c, now); err != nil {
		t.Fatal(err)
	}
}

func denied(t *testing.T, s Store, session, query string, now time.Time) bool {
	t.Helper()
	state, err := s.Read(session)
	if err != nil {
		t.Fatal(err)
	}
	_, ok := state.denial(Call{Search: event.Search{Query: query}}, now)
	return ok
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStateFile(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "made", "on demand")}
	path := filepath.Join(s.Dir, "docsearch-state-abc-1_Z.json")
	search := event.Search{Query: "gitlab ci", Allowed: []string{"b.c", "a.b"}}
	update(t, s, "abc-1_Z", Change{Deny: &Call{Search: search}}, time.UnixMilli(1763635277250))
	want := `{"last_denied":{"query":"gitlab ci","allowed_domains":["b.c","a.b"],"blocked_domains":[],"timestamp":1763635277.25}}`
	if got := readFile(t, path); got != want {
		t.Errorf("after a denial: %s, want %s", got, want)
	}
	if runtime.GOOS != "windows" {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v; want 0600", st.Mode(), err)
		}
	}
	update(t, s, "abc-1_Z", Change{Permit: &Call{Search: event.Search{Query: "gitlab ci", Allowed: []string{"a.b", "b.c"}, Blocked: []string{}}}}, at(1))
	if got, want := readFile(t, path), `{"last_denied":null}`; got != want {
		t.Errorf("after its repetition: %s, want %s", got, want)
	}
}

func TestDenialIsRemembered(t *testing.T) {
	first := event.Search{Query: "q", Allowed: []string{"a", "b"}, Blocked: []string{"c"}}
	for _, test := range []struct {
		name   string
		search event.Search
		after  time.Duration
		want   bool
	}{
		{"at once", first, 0, true},
		{"other order of domains", event.Search{Query: "q", Allowed: []string{"b", "a", "a"}, Blocked: []string{"c"}}, time.Second, true},
		{"just before five minutes", first, 5*time.Minute - time.Millisecond, true},
		{"five minutes", first, 5 * time.Minute, false},
		{"a clock that is a little behind", first, -time.Second, true},
		{"a time far ahead", first, -time.Hour, false},
		{"other query", event.Search{Query: "Q", Allowed: []string{"a", "b"}, Blocked: []string{"c"}}, 0, false},
		{"fewer domains", event.Search{Query: "q", Allowed: []string{"a"}, Blocked: []string{"c"}}, 0, false},
		{"no domains", event.Search{Query: "q"}, 0, false},
		{"domains swapped", event.Search{Query: "q", Allowed: []string{"c"}, Blocked: []string{"a", "b"}}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Store{t.TempDir()}
			update(t, s, "s", Change{Deny: &Call{Search: first}}, at(0))
			state, err := s.Read("s")
			if err != nil {
				t.Fatal(err)
			}
			if _, got := state.denial(Call{Search: test.search}, at(0).Add(test.after)); got != test.want {
				t.Errorf("remembered: %t, want %t", got, test.want)
			}
		})
	}
}

// Searches that are denied at the same time are repeated at the same time.
func TestParallelDenialsAreAllRemembered(t *testing.T) {
	s := Store{t.TempDir()}
	for i := range 3 {
		update(t, s, "s", deny(fmt.Sprint(i)), at(int64(i)))
	}
	update(t, s, "s", permit("1"), at(4))
	for query, want := range map[string]bool{"0": true, "1": false, "2": true} {
		if got := denied(t, s, "s", query, at(5)); got != want {
			t.Errorf("query %s remembered: %t, want %t", query, got, want)
		}
	}
	update(t, s, "s", permit("2"), at(6))
	if got := readFile(t, s.Dir, "docsearch-state-s.json"); !strings.HasPrefix(got, `{"last_denied":null,"earlier":[{"query":"0"`) {
		t.Errorf("state %s", got)
	}
	for i := range 2 * maxDenials {
		update(t, s, "s", deny(fmt.Sprint("x", i)), at(7))
	}
	state, err := s.Read("s")
	if err != nil || len(state.Earlier) != maxDenials-1 {
		t.Errorf("%d denials kept, error %v", len(state.Earlier)+1, err)
	}
}

func TestSessionsStayApart(t *testing.T) {
	ids := []string{
		"a_b", "a/b", "a.b", "a\\b", "a b", "../a", "..\\a", "___a", "/etc/passwd", "../../../../tmp/x", "", "default", "é", "__", "con", "a:b", "a\x00b",
		strings.Repeat("x", 120), strings.Repeat("x", 121), strings.Repeat("x", 5000), strings.Repeat("x", 5000) + "y", strings.Repeat("/", 5000),
	}
	outer := t.TempDir()
	s := Store{filepath.Join(outer, "a", "b")}
	for _, id := range ids {
		update(t, s, id, deny("of "+id), at(0))
	}
	for _, id := range ids {
		for _, other := range ids {
			if got := denied(t, s, id, "of "+other, at(1)); got != (id == other) {
				t.Errorf("session %.20q remembers what session %.20q was denied: %t", id, other, got)
			}
		}
	}
	for _, dir := range []string{outer, filepath.Join(outer, "a")} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s holds %v, %v; want one folder", dir, entries, err)
		}
	}
	update(t, s, "a/b", permit("of a/b"), at(2))
	if !denied(t, s, "a.b", "of a.b", at(3)) || !denied(t, s, "a_b", "of a_b", at(3)) || denied(t, s, "a/b", "of a/b", at(3)) {
		t.Error("the repetition in one session changed another")
	}
}

func TestStateName(t *testing.T) {
	for id, want := range map[string]string{
		"0c5f-A_z":  "docsearch-state-0c5f-A_z.json",
		"../../etc": "docsearch-state-______etc.json",
		"é😀":        "docsearch-state-__.json",
		"\xff":      "docsearch-state-_.json",
	} {
		if got, _ := stateName(id); got != want {
			t.Errorf("state of %q is in %s, want %s", id, got, want)
		}
	}
	if name, own := stateName(strings.Repeat("x", 300)); len(name) > 150 || own {
		t.Errorf("a long id gives %d bytes, own: %t", len(name), own)
	}
}

func TestStaleStatesAreRemoved(t *testing.T) {
	s := Store{t.TempDir()}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"docsearch-state-old.json":   6 * time.Minute,
		"docsearch-state-young.json": 4 * time.Minute,
		"docsearch-config.json":      time.Hour,
		"docsearch-state-note.txt":   time.Hour,
	} {
		path := filepath.Join(s.Dir, name)
		if err := os.WriteFile(path, []byte(`{"last_denied": null}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	update(t, s, "new", deny("q"), now)
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"docsearch-config.json", "docsearch-state-new.json", "docsearch-state-note.txt", "docsearch-state-young.json", "docsearch-state.lock"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestForeignStates(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       bool
	}{
		{"whole seconds", `{"last_denied": {"query": "q", "allowed_domains": [], "blocked_domains": [], "timestamp": 1763635277}}`, true},
		{"a fraction", `{"last_denied": {"query": "q", "allowed_domains": null, "timestamp": 1763635277.987654}}`, true},
		{"in a string", `{"last_denied": {"query": "q", "timestamp": "1763635277"}}`, true},
		{"unknown keys", `{"version": 7, "last_denied": {"query": "q", "timestamp": 1763635277, "why": {}}}`, true},
		{"no time", `{"last_denied": {"query": "q"}}`, false},
		{"time of a wrong type", `{"last_denied": {"query": "q", "timestamp": {}}}`, false},
		{"time beyond all", `{"last_denied": {"query": "q", "timestamp": 1e300}}`, false},
		{"old", `{"last_denied": {"query": "q", "timestamp": 1763634000}}`, false},
		{"cleared", `{"last_denied": null}`, false},
		{"empty object", `{}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Store{t.TempDir()}
			if err := os.WriteFile(filepath.Join(s.Dir, "docsearch-state-s.json"), []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := denied(t, s, "s", "q", at(2)); got != test.want {
				t.Errorf("denial found: %t, want %t", got, test.want)
			}
		})
	}
}

func TestDamagedState(t *testing.T) {
	for name, file := range map[string]string{
		"empty":      "",
		"cut":        `{"last_denied": {"query": "q", "time`,
		"list":       `[]`,
		"wrong type": `{"last_denied": "q"}`,
		"binary":     "\x00\xff\xfe",
		"huge":       strings.Repeat(" ", maxState+1),
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			path := filepath.Join(s.Dir, "docsearch-state-s.json")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := s.Read("s")
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want one of damage that names the file", err)
			}
			update(t, s, "s", Change{}, at(0))
			if got := readFile(t, path); got != `{"last_denied":null}` {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	s := Store{t.TempDir()}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			if err := s.Update(fmt.Sprint("own-", i), deny("q"), at(0)); err != nil {
				t.Error(err)
			}
			if err := s.Update("shared", deny(fmt.Sprint(i)), at(0)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range 16 {
		if !denied(t, s, fmt.Sprint("own-", i), "q", at(1)) || !denied(t, s, "shared", fmt.Sprint(i), at(1)) {
			t.Errorf("denial %d is lost", i)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"last_denied": null}`))
	f.Add([]byte(`{"last_denied":{"query":"q","allowed_domains":["a"],"blocked_domains":[],"timestamp":1763635277.25},"earlier":[{"query":"p","timestamp":"1"}],"consulted":3,"sessions":{"a/b":{"last_denied":null}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseState(data)
		if err != nil {
			return
		}
		state := s.session("s", true).apply(deny("q"), at(0))
		s.setSession("s", true, state)
		out := s.encode()
		if !json.Valid(out) {
			t.Fatalf("%s is no JSON", out)
		}
		again, err := parseState(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		back := again.session("s", true)
		if _, ok := back.denial(Call{Search: event.Search{Query: "q"}}, at(0)); !ok {
			t.Errorf("%s has lost the denial", out)
		}
	})
}
