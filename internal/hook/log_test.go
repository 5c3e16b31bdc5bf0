package hook

import (
	"bytes"
	"os"
	"path/filepath"
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
		matches = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab ci"},"session_id":"s"}`
		unknown = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"rice"},"session_id":"s"}`
		nothing = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"s"}`
		allowed = `{"hook_event_name":"PreToolUse","tool_name":"mcp__docsearch__search","tool_input":{"query":"x"},"session_id":"s"}`
	)
	redirected := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: event.WebSearch, Outcome: eventlog.Redirected, Databases: []string{"gitlab"}}
	retried := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: event.WebSearch, Outcome: eventlog.Retried}
	unmatched := eventlog.Event{At: now, Host: "claude", Name: event.PreToolUse, Tool: event.WebSearch, Outcome: eventlog.Unmatched}
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
		{"own tool", config.Hook{Log: true}, []string{allowed}, []eventlog.Event{{At: now, Host: "claude", Name: event.PreToolUse, Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed}}},
		{"switched off", config.Hook{LogQueries: true}, []string{matches, unknown}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := config.Locations{State: filepath.Join(t.TempDir(), "state")}
			for _, event := range test.events {
				runLogged(t, test.hook, l, now, event)
			}
			var got []eventlog.Event
			if _, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
				if denied := e.Outcome == eventlog.Redirected; denied != (e.Shown > 0) {
					t.Errorf("%s, and %d bytes shown", e.Outcome, e.Shown)
				}
				got = append(got, e)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(eventlog.Event{}, "Shown")); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
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
