package activity

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/eventlog"
)

// Each decision has one line, with what the agent did after a denial. While it may still
// react, the denial is only a denial.
func TestOutcomesInWords(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_000)
	l := eventlog.Log{Dir: t.TempDir()}
	for i, e := range []eventlog.Event{
		{Session: "s", Call: "1", Tool: "WebSearch", Outcome: eventlog.Answered, Databases: []string{"a"}},
		{Session: "s", Call: "1", Tool: "WebSearch", Outcome: eventlog.Retried, Databases: []string{"a"}},
		{Session: "t", Call: "2", Tool: "WebSearch", Outcome: eventlog.Answered},
		{Session: "u", Call: "3", Tool: "WebSearch", Outcome: eventlog.Redirected},
		{Session: "v", Call: "4", Tool: "WebSearch", Outcome: eventlog.Redirected},
		{Session: "v", Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed},
		{Session: "w", Call: "5", Tool: "WebFetch", Outcome: eventlog.Answered},
		{Session: "w", Call: "5", Tool: "WebFetch", Outcome: eventlog.Retried},
		{Tool: "WebSearch", Outcome: eventlog.Answered},
		{Tool: "Bash", Outcome: eventlog.Prompted, Rule: "push"},
		{Tool: "WebSearch", Outcome: eventlog.Unanswered},
	} {
		e.At, e.Name = start.Add(time.Duration(i)*time.Second), "PreToolUse"
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		now  time.Time
		want []string
	}{
		{start.Add(time.Hour), []string{
			"ran: the documentation does not answer it", "the rule push asked you", "denied", "denied, then ran", "denied and used",
			"denied, search call not used", "denied and used", "denied, then searched the web",
		}},
		{start.Add(time.Minute), []string{
			"ran: the documentation does not answer it", "the rule push asked you", "denied", "denied, then ran", "denied and used",
			"denied", "denied", "denied, then searched the web",
		}},
	} {
		d, err := latestIn(l.Dir, test.now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range d.All {
			got = append(got, x.Outcome)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", test.now, diff)
		}
	}
}
