package hook

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
)

func TestOutcome(t *testing.T) {
	search := event.Event{Name: event.PreToolUse, Tool: event.WebSearch, Search: event.Search{Query: "q"}}
	command := event.Event{Name: event.PreToolUse, Tool: event.Bash}
	for _, test := range []struct {
		name     string
		event    event.Event
		decision Decision
		want     eventlog.Outcome
	}{
		{"answered", search, Decision{Verdict: Deny, Offered: []string{"a"}, Quoted: true}, eventlog.Answered},
		{"redirected", search, Decision{Verdict: Deny, Offered: []string{"a"}}, eventlog.Redirected},
		{"denied", command, Decision{Verdict: Deny, Rule: &config.Rule{}}, eventlog.Denied},
		{"asked", command, Decision{Verdict: Ask}, eventlog.Prompted},
		{"allowed", event.Event{Name: event.PreToolUse, Tool: "mcp__docsearch__search"}, Decision{Verdict: Allow}, eventlog.Allowed},
		{"consulted", command, Decision{Consults: true, Context: "c"}, eventlog.Consulted},
		{"notes", command, Decision{Context: "c"}, eventlog.Context},
		{"context at the start", event.Event{Name: event.SessionStart}, Decision{Context: "c"}, eventlog.Context},
		{"retried", search, Decision{Change: Change{Permit: true}}, eventlog.Retried},
		{"retried without an answer", search, Decision{Matched: []string{"a"}, Change: Change{Permit: true}}, eventlog.Retried},
		{"unanswered", search, Decision{Matched: []string{"a"}}, eventlog.Unanswered},
		{"unmatched", search, Decision{}, eventlog.Unmatched},
		{"no query", event.Event{Name: event.PreToolUse, Tool: event.WebSearch, Search: event.Search{Query: " "}}, Decision{}, ""},
		{"a search that has run", event.Event{Name: event.PostToolUse, Tool: event.WebSearch, Search: event.Search{Query: "q"}}, Decision{}, ""},
		{"a command", command, Decision{}, ""},
		{"a page that no database has", event.Event{Name: event.PreToolUse, Tool: event.WebFetch}, Decision{Matched: []string{"a"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.decision.Outcome(&test.event); got != test.want {
				t.Errorf("outcome %q, want %q", got, test.want)
			}
		})
	}
}

func TestLog(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_123)
	const (
		matches  = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci"},"session_id":"s"}`
		unknown  = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"rice"},"session_id":"s"}`
		nothing  = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"s"}`
		consults = `{"hook_event_name":"PreToolUse","tool_name":"mcp__leann__search","tool_input":{"query":"x"},"session_id":"s"}`
		subagent = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"rice"},"session_id":"s","agent_id":"a"}`
		withID   = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci"},"session_id":"s","tool_use_id":"u"}`
		allowed  = `{"hook_event_name":"PreToolUse","tool_name":"mcp__docsearch__search","tool_input":{"query":"x"},"session_id":"s"}`
	)
	redirected := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: event.WebSearch, Outcome: eventlog.Redirected, Databases: []string{"gitlab"}, Session: eventlog.Checksum("s", "")}
	retried := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: event.WebSearch, Outcome: eventlog.Retried, Databases: []string{"gitlab"}, Session: eventlog.Checksum("s", "")}
	unmatched := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: event.WebSearch, Outcome: eventlog.Unmatched, Session: eventlog.Checksum("s", "")}
	consulted := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: "mcp__leann__search", Outcome: eventlog.Consulted, Session: eventlog.Checksum("s", "")}
	bySubagent := unmatched
	bySubagent.Session = eventlog.Checksum("s", "a")
	withQuery := unmatched
	withQuery.Query = "rice"
	for _, test := range []struct {
		name   string
		hook   config.Hook
		events []string
		want   []eventlog.Event
	}{
		{"a denial and its repetition", config.Hook{Log: true}, []string{matches, matches}, []eventlog.Event{redirected, retried}},
		{"no match", config.Hook{Log: true}, []string{unknown}, []eventlog.Event{unmatched}},
		{"with queries", config.Hook{Log: true, LogQueries: true}, []string{unknown}, []eventlog.Event{withQuery}},
		{"nothing happens", config.Hook{Log: true}, []string{nothing}, nil},
		{"own tool", config.Hook{Log: true}, []string{allowed}, []eventlog.Event{{At: now, Host: "claude", Name: event.PreToolUse, Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed, Session: eventlog.Checksum("s", "")}}},
		{"another server's tool", config.Hook{Log: true}, []string{consults}, []eventlog.Event{consulted}},
		{"a search of a subagent", config.Hook{Log: true}, []string{subagent}, []eventlog.Event{bySubagent}},
		{"a second hook for a call", config.Hook{Log: true}, []string{withID, withID}, []eventlog.Event{redirected}},
		{"switched off", config.Hook{LogQueries: true}, []string{matches, unknown}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := config.Locations{State: filepath.Join(t.TempDir(), "state")}
			for _, event := range test.events {
				runLogged(t, test.hook, l, now, event)
			}
			var got []eventlog.Event
			if _, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
				if called := e.Outcome == eventlog.Redirected || e.Outcome == eventlog.Retried; called != (e.Call != "") {
					t.Errorf("%s, call %q", e.Outcome, e.Call)
				}
				if denied := e.Outcome == eventlog.Redirected; denied != (e.Shown > 0) {
					t.Errorf("%s, and %d bytes shown", e.Outcome, e.Shown)
				}
				got = append(got, e)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(eventlog.Event{}, "Shown", "Call")); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// The log has the confidence in the databases that were searched: of a denial, and of a
// search that ran. A page that was fetched has none.
func TestLogConfidence(t *testing.T) {
	c := testConfig("", "")
	c.Hook.Log, c.Hook.TimeoutMS = true, 60_000
	c.Databases[0].URLs = []string{"https://docs.gitlab.com/"}
	unsure := sure
	unsure.Confidence, unsure.Confident = .31, false
	l := config.Locations{State: t.TempDir()}
	search := fakeSearcher{"gitlab": always(sure), "kubernetes": always(unsure)}
	for _, input := range []string{
		`"tool_name":"WebSearch","tool_input":{"query":"gitlab and kubernetes"}`,
		`"tool_name":"WebSearch","tool_input":{"query":"kubernetes"}`,
		`"tool_name":"WebFetch","tool_input":{"url":"https://docs.gitlab.com/a","prompt":"p"}`,
	} {
		p := &Process{
			Stdin: strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s",` + input + `}`), Stdout: io.Discard, Stderr: io.Discard,
			Getenv: noEnv, Now: time.Now,
		}
		p.Run(c, l, nil, search)
	}
	var got []eventlog.Event
	if _, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
		got = append(got, eventlog.Event{Outcome: e.Outcome, Databases: e.Databases, Confidence: e.Confidence})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []eventlog.Event{
		{Outcome: eventlog.Answered, Databases: []string{"gitlab"}, Confidence: []float64{sure.Confidence}},
		{Outcome: eventlog.Unanswered, Databases: []string{"kubernetes"}, Confidence: []float64{.31}},
		{Outcome: eventlog.Answered, Databases: []string{"gitlab"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A retry has the checksum of its denial, and no other call has it. Without a session there
// is none.
func TestLogCall(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_123)
	search := func(session, agent, input string) string {
		return `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{` + input + `},"session_id":"` + session + `","agent_id":"` + agent + `"}`
	}
	l := config.Locations{State: t.TempDir()}
	for _, input := range []string{
		search("s", "", `"query":"gitlab","blocked_domains":["a.org","b.org"]`), search("s", "", `"query":"gitlab","blocked_domains":["b.org","a.org"]`),
		search("s", "", `"query":"gitlab"`), search("s", "", `"query":"gitlab","blocked_domains":["a.org"]`),
		search("s", "a", `"query":"gitlab"`), search("t", "", `"query":"gitlab"`), search("t", "", `"query":"gitlab ci"`), search("", "", `"query":"gitlab"`),
	} {
		runLogged(t, config.Hook{Log: true}, l, now, input)
	}
	var calls []string
	if _, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
		calls = append(calls, e.Call)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(calls)))
	if len(calls) != 8 || len(distinct) != 7 || calls[0] != calls[1] || calls[7] != "" {
		t.Errorf("calls %q", calls)
	}
}

// An error of the log does not change the decision or its output.
func TestLogFails(t *testing.T) {
	const event = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci"},"session_id":"s"}`
	now := time.UnixMilli(1_800_000_000_123)
	good := config.Locations{State: t.TempDir()}
	bad := config.Locations{State: t.TempDir()}
	if err := os.Mkdir(filepath.Join(bad.State, "docsearch-events.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	wantCode, want, wantErr := runLogged(t, config.Hook{Log: true}, good, now, event)
	code, stdout, stderr := runLogged(t, config.Hook{Log: true}, bad, now, event)
	if code != host.ExitDeny || code != wantCode || stdout != want || stderr != wantErr {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// runLogged runs the hook with a database that another server searches.
func runLogged(t *testing.T, h config.Hook, l config.Locations, now time.Time, event string) (code int, stdout, stderr string) {
	t.Helper()
	c := config.Default()
	h.TimeoutMS = 60_000
	c.Hook = h
	c.Databases = []config.Database{{Name: "gitlab", Keywords: []string{"gitlab"}, Path: "/d", Description: "D", Tool: "mcp__leann__search", Mode: config.ModeRedirect}}
	var out, errs bytes.Buffer
	p := &Process{
		Stdin: strings.NewReader(event), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return now },
	}
	code = p.Run(&c, l, nil, fakeSearcher{})
	return code, out.String(), errs.String()
}
