package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/hook/sessionfile"
)

func at(seconds int64) time.Time { return time.Unix(1_763_635_277+seconds, 0) }

func deny(query string) Change   { return Change{Attempt: search(query), Deny: true} }
func permit(query string) Change { return Change{Attempt: search(query), Permit: true} }

func search(query string) Attempt {
	return Attempt{Call: Call{Search: event.Search{Query: query}}}
}

func update(t *testing.T, s Store, session string, c Change, now time.Time) {
	t.Helper()
	if _, err := s.Update(session, c, func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
}

// retry reports whether the state classifies a call as a retry.
func (s *State) retry(c Call, now time.Time) bool {
	_, known := s.classify(Attempt{Call: c}, now)
	return known == Retry
}

func denied(t *testing.T, s Store, session, query string, now time.Time) bool {
	t.Helper()
	state, err := s.Read(session, now)
	if err != nil {
		t.Fatal(err)
	}
	return state.retry(search(query).Call, now)
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
	minute := minuteOf(at(0))
	path := filepath.Join(s.Dir, "docsearch-denials", fmt.Sprint(minute), "session-abc-1_Z.json")
	search := event.Search{Query: "gitlab ci", Allowed: []string{"b.c", "a.b"}}
	update(t, s, "abc-1_Z", Change{Attempt: Attempt{Call: Call{Search: search}}, Deny: true}, time.UnixMilli(1763635277250))
	want := `{"last_denied":{"query":"gitlab ci","allowed_domains":["b.c","a.b"],"blocked_domains":[],"timestamp":1763635277.25}}`
	if got := readFile(t, path); got != want {
		t.Errorf("after a denial: %s, want %s", got, want)
	}
	if runtime.GOOS != "windows" {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v; want 0600", st.Mode(), err)
		}
	}
	retry := Attempt{Call: Call{Search: event.Search{Query: "gitlab ci", Allowed: []string{"a.b", "b.c"}, Blocked: []string{}}}, Use: "toolu_2"}
	update(t, s, "abc-1_Z", Change{Attempt: retry, Permit: true}, at(1))
	want = `{"last_denied":null,"passed":[{"query":"gitlab ci","allowed_domains":["a.b","b.c"],"blocked_domains":[],"timestamp":1763635278,"retry_ids":["toolu_2"]}]}`
	if got := readFile(t, path); got != want {
		t.Errorf("after its retry: %s, want %s", got, want)
	}
	update(t, s, "abc-1_Z", Change{Consult: true}, at(1+300))
	if got, want := readFile(t, s.path(minute+5, "abc-1_Z")), `{"last_denied":null}`; got != want {
		t.Errorf("five minutes later: %s, want %s", got, want)
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
			update(t, s, "s", Change{Attempt: Attempt{Call: Call{Search: first}}, Deny: true}, at(0))
			state, err := s.Read("s", at(0).Add(test.after))
			if err != nil {
				t.Fatal(err)
			}
			if got := state.retry(Call{Search: test.search}, at(0).Add(test.after)); got != test.want {
				t.Errorf("remembered: %t, want %t", got, test.want)
			}
		})
	}
}

// Searches that are denied in parallel are retried in parallel.
func TestParallelDenials(t *testing.T) {
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
	if got := readFile(t, s.path(minuteOf(at(6)), "s")); !strings.HasPrefix(got, `{"last_denied":{"query":"0"`) {
		t.Errorf("state %s", got)
	}
}

// The state keeps all denials of a normal session, and its file stays bounded.
func TestStateIsBounded(t *testing.T) {
	var state State
	for i := range 2 * maxDenials {
		c := deny(fmt.Sprint("x", i))
		c.Attempt.Use = fmt.Sprint("toolu_", i)
		state, _ = state.apply(c, at(0))
		if i < maxDenials && !state.retry(search("x0").Call, at(0)) {
			t.Fatalf("the first of %d denials is forgotten", i+1)
		}
	}
	if len(state.Denied) != maxDenials {
		t.Errorf("%d denials kept, want %d", len(state.Denied), maxDenials)
	}
	for i := range 3 * maxUses {
		c := deny("again and again")
		c.Attempt.Use, c.Attempt.Started = fmt.Sprint("toolu_", i), at(0)
		state, _ = state.apply(c, at(1))
	}
	if uses := state.Denied[len(state.Denied)-1].Uses; len(uses) != maxUses || uses[0] != fmt.Sprint("toolu_", 2*maxUses) {
		t.Errorf("%d tool uses kept, the oldest %s", len(uses), uses[0])
	}
	for i := range 2 * maxPassed {
		state, _ = state.apply(permit(fmt.Sprint(i)), at(2))
	}
	if len(state.Passed) != maxPassed {
		t.Errorf("%d retries kept, want %d", len(state.Passed), maxPassed)
	}
	for i := range 100 {
		state, _ = state.apply(deny(strings.Repeat(fmt.Sprint(i), match.MaxQuery/3)), at(3))
	}
	f := stateFile{State: state}
	if n := len(f.encode()); n > maxStateFile {
		t.Errorf("the file has %d bytes, more than the %d that are read", n, maxStateFile)
	}
}

// TestDuplicateHooks simulates hooks of one session. Each starts at one time, decides about a tool
// use of an agent later, and classifies it by the state.
func TestDuplicateHooks(t *testing.T) {
	type step struct {
		use, agent      string
		started, decide int64 // milliseconds
		want            AttemptKind
		transcript      int64
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"two copies, then two of the retry", []step{
			{"1", "", 0, 5, NewCall, 0}, {"1", "", 1, 9, DuplicateOfDenied, 0}, {"2", "", 500, 505, Retry, 0}, {"2", "", 501, 509, DuplicateOfPassed, 0},
		}},
		{"the second copy starts late", []step{
			{"1", "", 0, 5, NewCall, 0}, {"1", "", 300, 305, DuplicateOfDenied, 0}, {"2", "", 500, 505, Retry, 0}, {"2", "", 700, 709, DuplicateOfPassed, 0},
		}},
		{"and the third call is denied again", []step{
			{"1", "", 0, 5, NewCall, 0}, {"2", "", 500, 505, Retry, 0}, {"3", "", 900, 905, NewCall, 0}, {"3", "", 910, 915, DuplicateOfDenied, 0}, {"4", "", 1500, 1505, Retry, 0},
		}},
		{"a copy of the denial after the retry", []step{
			{"1", "", 0, 5, NewCall, 0}, {"2", "", 500, 505, Retry, 0}, {"1", "", 1, 900, DuplicateOfDenied, 0},
		}},
		{"equal searches at the same time", []step{
			{"1", "", 0, 5, NewCall, 0}, {"2", "", 1, 9, DuplicateOfDenied, 0}, {"3", "", 8, 12, DuplicateOfDenied, 0}, {"4", "", 500, 505, Retry, 0}, {"5", "", 502, 509, DuplicateOfPassed, 0},
		}},
		{"no ids, at the same time", []step{
			{"", "", 0, 5, NewCall, 0}, {"", "", 1, 9, DuplicateOfDenied, 0}, {"", "", 500, 505, Retry, 0}, {"", "", 501, 509, DuplicateOfPassed, 0}, {"", "", 3000, 3005, Retry, 0}, {"", "", 6000, 6005, NewCall, 0},
		}},
		{"no ids, one after the other", []step{
			{"", "", 0, 5, NewCall, 0}, {"", "", 2000, 2005, Retry, 0}, {"", "", 4000, 4005, NewCall, 0}, {"", "", 6000, 6005, Retry, 0},
		}},
		{"no ids, two copies on a busy machine", []step{
			{"", "", 0, 5, NewCall, 0}, {"", "", 40, 45, Retry, 0}, {"", "", 3000, 3005, Retry, 0}, {"", "", 3700, 3705, DuplicateOfPassed, 0},
			{"", "", 6000, 6005, NewCall, 0}, {"", "", 6200, 6205, Retry, 0}, {"", "", 9000, 9005, Retry, 0},
		}},
		{"no ids, the transcript grows", []step{
			{"", "", 0, 5, NewCall, 100}, {"", "", 60, 65, DuplicateOfDenied, 100}, {"", "", 500, 505, Retry, 170}, {"", "", 560, 565, DuplicateOfPassed, 170}, {"", "", 900, 905, NewCall, 300},
		}},
		{"subagents", []step{
			{"1", "", 0, 5, NewCall, 0}, {"2", "a", 500, 505, NewCall, 0}, {"3", "b", 900, 905, NewCall, 0}, {"4", "a", 1000, 1005, Retry, 0}, {"5", "", 1200, 1205, Retry, 0}, {"6", "b", 1300, 1305, Retry, 0},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Store{t.TempDir()}
			for i, step := range test.steps {
				a := search("gitlab ci")
				a.Use, a.Agent, a.Started = step.use, step.agent, at(0).Add(time.Duration(step.started)*time.Millisecond)
				a.Transcript = step.transcript
				now := at(0).Add(time.Duration(step.decide) * time.Millisecond)
				state, err := s.Read("s", now)
				if err != nil {
					t.Fatal(err)
				}
				_, known := state.classify(a, now)
				if known != step.want {
					t.Fatalf("step %d: %d, want %d", i+1, known, step.want)
				}
				c := Change{Attempt: a}
				c.Deny = known == NewCall || known == DuplicateOfDenied
				c.Permit = !c.Deny
				update(t, s, "s", c, now)
			}
		})
	}
}

// If two hooks decide in parallel, neither finds the other's denial in the state. Update
// reports it to the second one.
func TestDuplicateDenial(t *testing.T) {
	s := Store{t.TempDir()}
	for i, want := range []bool{false, true} {
		c := deny("q")
		c.Attempt.Use = "toolu_1"
		duplicate, err := s.Update("s", c, func() time.Time { return at(0) })
		if err != nil || duplicate != want {
			t.Errorf("hook %d: duplicate %t, %v; want %t", i+1, duplicate, err, want)
		}
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
				t.Errorf("session %.20q contains the denial of session %.20q: %t", id, other, got)
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
		"0c5f-A_z":  "session-0c5f-A_z.json",
		"../../etc": "session-______etc.json",
		"é😀":        "session-__.json",
		"\xff":      "session-_.json",
	} {
		name, _ := sessionfile.SafeName(id)
		if got := filepath.Base(Store{}.path(1, name)); got != want {
			t.Errorf("state of %q is in %s, want %s", id, got, want)
		}
	}
	if name, own := sessionfile.SafeName(strings.Repeat("x", 300)); len(name) > 150 || own {
		t.Errorf("a long id gives %d bytes, own: %t", len(name), own)
	}
}

// writeState writes a file in the way of another program.
func writeState(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// statesIn lists the sessions with a file, each with its age in minutes.
func statesIn(t *testing.T, s Store, now time.Time) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir, statesName, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		minute, err := strconv.ParseInt(filepath.Base(filepath.Dir(path)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%s %d", strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), statePrefix), stateSuffix), minuteOf(now)-minute))
	}
	return names
}

// Updates remove the files of minutes that no reader looks at, and nothing else.
func TestStaleStatesAreRemoved(t *testing.T) {
	s := Store{t.TempDir()}
	now := at(0)
	for name, minutes := range map[string]int64{"month": 40_000, "old": 6, "young": 5, "ahead": -1, "wrong-clock": -40_000} {
		if err := writeState(s.path(minuteOf(now)-minutes, name), `{"last_denied": null}`); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(s.Dir, statesName, "notes", "mine.txt")
	if err := writeState(other, "mine"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		update(t, s, "new", deny("q"), now)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	os.RemoveAll(filepath.Dir(other))
	if diff := cmp.Diff([]string{"young 5", "new 0", "ahead -1"}, statesIn(t, s, now)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	folders, err := os.ReadDir(filepath.Join(s.Dir, statesName))
	if err != nil || len(folders) != 3 {
		t.Errorf("folders %v, %v; want 3", folders, err)
	}
}

// The work of an update does not grow with the files of other sessions, and the updates
// remove more files than they write.
func TestSweepIsBounded(t *testing.T) {
	s := Store{t.TempDir()}
	now := at(0)
	const files = 200
	for i := range files {
		for _, path := range []string{s.path(minuteOf(now)-7, fmt.Sprint(i)), filepath.Join(s.Dir, fmt.Sprintf("docsearch-state-%d.json", i))} {
			if err := writeState(path, `{"last_denied": null}`); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, now.Add(-time.Hour), now.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for run := 1; run <= files/maxSwept+1; run++ {
		update(t, s, "new", deny("q"), now)
		if got, want := len(statesIn(t, s, now)), max(files-run*maxSwept, 0)+1; got != want {
			t.Fatalf("%d files after run %d, want %d", got, run, want)
		}
	}
	seed := func() int {
		paths, _ := filepath.Glob(filepath.Join(s.Dir, "docsearch-state-*.json"))
		return len(paths)
	}
	if seed() != files {
		t.Errorf("updates removed %d files of earlier versions, which they would have to search for", files-seed())
	}
	s.Sweep(now)
	if seed() != 0 {
		t.Errorf("%d files of earlier versions are left", seed())
	}
}

// A session that starts or ends removes the queries of others.
func TestSessionSweeps(t *testing.T) {
	for _, name := range []string{event.SessionStart, event.SessionEnd} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			if err := writeState(s.path(minuteOf(at(0))-6, "old"), `{"last_denied": null}`); err != nil {
				t.Fatal(err)
			}
			seed := filepath.Join(s.Dir, "docsearch-state-old.json")
			if err := writeState(seed, `{"last_denied": null}`); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(seed, at(-301), at(-301)); err != nil {
				t.Fatal(err)
			}
			p := &Process{Getenv: noEnv, Now: func() time.Time { return at(0) }}
			p.Decide(event.Event{Host: event.Claude, Name: name, Session: "s"}, testConfig("", ""), config.Locations{State: s.Dir}, fakeSearcher{})
			if left := statesIn(t, s, at(0)); len(left) > 0 {
				t.Errorf("files %v", left)
			}
			if _, err := os.Stat(seed); err == nil {
				t.Errorf("%s is still there", seed)
			}
		})
	}
}

// A file that another program writes does not change the memory of a session.
func TestOtherProgramsWriteTheOldFile(t *testing.T) {
	s := Store{t.TempDir()}
	seed := filepath.Join(s.Dir, "docsearch-state-s.json")
	other := func(text string) {
		t.Helper()
		if err := writeState(seed, text); err != nil {
			t.Fatal(err)
		}
	}
	// Of a call that the other program has denied just now, this process decides, too.
	other(`{"last_denied": {"query": "q", "timestamp": 1763635277}}`)
	if denied(t, s, "s", "q", at(0).Add(time.Second/2)) {
		t.Error("the other program's denial of this call counts as an earlier one")
	}
	update(t, s, "s", deny("q"), at(0).Add(time.Second/2))
	for i, text := range []string{`{"last_denied": null}`, `{"last_denied": {"query": "p", "timestamp": 1763635277}}`, "{", ""} {
		other(text)
		if now := at(int64(2 + i)); !denied(t, s, "s", "q", now) || denied(t, s, "s", "p", now) {
			t.Errorf("%q of another program changes the session's memory", text)
		}
	}
	if got := readFile(t, seed); got != "" {
		t.Errorf("the other program's file has become %q", got)
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
		"huge":       strings.Repeat(" ", maxStateFile+1),
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			path := s.path(minuteOf(at(0)), "s")
			if err := writeState(path, file); err != nil {
				t.Fatal(err)
			}
			_, err := s.Read("s", at(0))
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
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
			now := func() time.Time { return at(0) }
			if _, err := s.Update(fmt.Sprint("own-", i), deny("q"), now); err != nil {
				t.Error(err)
			}
			if _, err := s.Update("shared", deny(fmt.Sprint(i)), now); err != nil {
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
	f.Add([]byte(`{"last_denied":{"query":"q","timestamp":1763635277,"agent":"a","databases":["d"],"tool_use_ids":["1"]},"passed":[{"url":"u","timestamp":1763635277,"retry_ids":["2"]}]}`))
	f.Add([]byte(`{"last_denied":{"query":"q","timestamp":1763635277,"code":"k3f9","shown":["1z8","3fk:15","x:-1",""]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseState(data)
		if err != nil {
			return
		}
		state, _ := s.session("s", true).apply(deny("q"), at(0))
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
		if !back.retry(search("q").Call, at(0)) {
			t.Errorf("%s has lost the denial", out)
		}
	})
}
