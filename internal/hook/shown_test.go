package hook

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// deniedIn decides about a search in the session's stored state, and returns the code in
// the denial.
func deniedIn(t *testing.T, s Store, e event.Event, x fakeSearcher) string {
	t.Helper()
	p := &Process{Getenv: noEnv, Now: func() time.Time { return at(0) }}
	d := p.Decide(e, testConfig("", ""), config.Locations{State: s.Dir}, x)
	if d.Verdict != Deny || len(d.Faults) > 0 {
		t.Fatalf("verdict %q, faults %q, trace %q", d.Verdict, d.Faults, d.Trace)
	}
	_, rest, _ := strings.Cut(d.Context, `"after": "`)
	code, _, _ := strings.Cut(rest, `"`)
	return code
}

func TestShown(t *testing.T) {
	long := passage.Passage{Title: "Long", Text: "# Long\n\n" + strings.Repeat("A sentence of a long passage. ", 300)}
	x := fakeSearcher{"gitlab": always(Answer{Passages: []passage.Passage{expiry, long}, Confidence: 0.97, Confident: true})}
	s := Store{t.TempDir()}
	search := showingContext(webSearchEvent("gitlab artifacts"))
	search.Use = "1"
	code := deniedIn(t, s, search, x)

	shown := s.Shown(code, at(60))
	if n, ok := shown[expiry.Fingerprint()]; !ok || n != passage.Whole {
		t.Errorf("a whole passage: %d bytes, %t", n, ok)
	}
	if n := shown[long.Fingerprint()]; n < 1000 || n >= len(long.Text) || !strings.HasSuffix(long.Text[:n], "long passage.") && !strings.HasSuffix(long.Text[:n], "long passage. ") {
		t.Errorf("a shortened passage: %d bytes of %d", n, len(long.Text))
	}
	if len(shown) != 2 {
		t.Errorf("shown %v", shown)
	}
	for name, got := range map[string]passage.Shown{
		"another code":           s.Shown("zzzz", at(60)),
		"no code":                s.Shown("", at(60)),
		"after the retry window": s.Shown(code, at(301)),
		"no folder":              Store{filepath.Join(s.Dir, "none")}.Shown(code, at(60)),
	} {
		if got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}

	// A file that is no state does not hide the others.
	if err := writeState(s.path(minuteOf(at(0)), "x"), `{"last_denied": [`); err != nil {
		t.Fatal(err)
	}
	if got := s.Shown(code, at(60)); !maps.Equal(got, shown) {
		t.Errorf("with a corrupt state of another session: %v", got)
	}

	// After a second copy of the hook, the passages stay known.
	again := deniedIn(t, s, search, x)
	if again != "" || !maps.Equal(s.Shown(code, at(60)), shown) {
		t.Errorf("a second copy: code %q, shown %v", again, s.Shown(code, at(60)))
	}
}

// Each agent of each session has its own code, also for the same call and in sessions
// whose IDs are not file names.
func TestCodesStayApart(t *testing.T) {
	s := Store{t.TempDir()}
	x := fakeSearcher{"gitlab": always(sure)}
	var codes []string
	for _, e := range []event.Event{{Session: "a"}, {Session: "b"}, {Session: "a", Agent: "a1"}, {Session: "a/b"}, {Session: "a:b"}} {
		search := showingContext(webSearchEvent("gitlab artifacts"))
		search.Session, search.Agent = e.Session, e.Agent
		code := deniedIn(t, s, search, x)
		if len(code) != codeLength || slices.Contains(codes, code) {
			t.Errorf("session %q, agent %q: code %q, others %q", e.Session, e.Agent, code, codes)
		}
		codes = append(codes, code)
	}
	for _, code := range codes {
		if len(s.Shown(code, at(1))) != 1 {
			t.Errorf("code %q: shown %v", code, s.Shown(code, at(1)))
		}
	}
}

// A denial has no code if the agent may not see its passages, or has none to see.
func TestNoCode(t *testing.T) {
	fetch := showingContext(event.Event{Host: event.Claude, Name: event.PreToolUse, Session: "s", Tool: event.WebFetch, Fetch: event.Fetch{URL: "https://docs.gitlab.com/ci/", Prompt: "artifacts"}})
	for _, test := range []struct {
		name   string
		event  event.Event
		config func(*config.Config)
	}{
		{"a client that may show no context", webSearchEvent("gitlab artifacts"), func(*config.Config) {}},
		{"no passages", showingContext(webSearchEvent("gitlab artifacts")), func(c *config.Config) { c.Databases[0].Mode = config.ModeRedirect }},
		{"a page", fetch, func(c *config.Config) { c.Databases[0].URLs = []string{"https://docs.gitlab.com/"} }},
	} {
		c := testConfig("", "")
		test.config(c)
		d := denial(t, c, test.event, fakeSearcher{"gitlab": always(sure)})
		if strings.Contains(d.Reason+d.Context, `"after"`) || d.Change.Code != "" || d.Change.Shown != nil {
			t.Errorf("%s: change %+v\n%s\n%s", test.name, d.Change, d.Reason, d.Context)
		}
	}
}

// A compaction may leave a code without its passages. A retry leaves both.
func TestShownIsForgotten(t *testing.T) {
	x := fakeSearcher{"gitlab": always(sure)}
	search := showingContext(webSearchEvent("gitlab artifacts"))
	search.Use = "1"
	for name, test := range map[string]struct {
		event event.Event
		kept  bool
	}{
		"compaction":            {event.Event{Name: event.PreCompact, Session: "s"}, false},
		"after a compaction":    {event.Event{Name: event.PostCompact, Session: "s"}, false},
		"a compacted session":   {event.Event{Name: event.SessionStart, Source: "compact", Session: "s"}, false},
		"a resumed session":     {event.Event{Name: event.SessionStart, Source: "resume", Session: "s"}, true},
		"another one compacted": {event.Event{Name: event.PreCompact, Session: "t"}, true},
		"a retry":               {search, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			code := deniedIn(t, s, search, x)
			e := test.event
			e.Host = event.Claude
			if e.Name == event.PreToolUse {
				e.Use = "2"
			}
			p := &Process{Getenv: noEnv, Now: func() time.Time { return at(1) }}
			if d := p.Decide(e, testConfig("", ""), config.Locations{State: s.Dir}, x); d.Verdict != Pass || len(d.Faults) > 0 {
				t.Fatalf("verdict %q, faults %q", d.Verdict, d.Faults)
			}
			if got := s.Shown(code, at(1)) != nil; got != test.kept {
				t.Errorf("known: %t, want %t", got, test.kept)
			}
			if _, err := os.Stat(s.path(minuteOf(at(1)), "t")); err == nil {
				t.Error("a session without denials has a state")
			}
		})
	}
}

func TestShownIsParsed(t *testing.T) {
	want := passage.Shown{"abc": passage.Whole, "def": 12}
	if got := parseShown(append(encodeShown(want), "ghi:", "jkl:-3", "mno:x")); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
