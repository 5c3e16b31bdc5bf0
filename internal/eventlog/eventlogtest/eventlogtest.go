// Package eventlogtest makes event logs for tests.
package eventlogtest

import (
	"strconv"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/eventlog"
)

// Week writes the log of a week with every kind of event.
func Week(t testing.TB) eventlog.Log {
	t.Helper()
	l := eventlog.Log{Dir: t.TempDir()}
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	log := func(n int, e eventlog.Event) {
		for range n {
			e.At, e.Host = at, "claude"
			if e.Name == "" {
				e.Name = "PreToolUse"
			}
			if err := l.Append(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	gitlab, both := []string{"gitlab"}, []string{"gitlab", "<k8s> & \"co\""}
	log(1, eventlog.Event{Name: "SessionStart", Outcome: eventlog.Context, Shown: 300, Databases: both})
	for i := range 1200 {
		log(1, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Answered, Shown: 4000, Databases: gitlab,
			Session: "s", Call: strconv.Itoa(i)})
	}
	log(1, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Retried, Session: "s", Call: "7"})
	log(1, eventlog.Event{Tool: "WebFetch", Outcome: eventlog.Answered, Shown: 8000, Databases: gitlab})
	log(2, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Redirected, Shown: 1000, Databases: both})
	at = at.AddDate(0, 0, 3)
	log(2, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Retried})
	log(4, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unanswered, Databases: gitlab})
	log(1, eventlog.Event{Tool: "Bash", Outcome: eventlog.Denied, Shown: 40,
		Rule: "bash-kubectl-with-a-name-that-is-long"})
	log(1, eventlog.Event{Tool: "Bash", Outcome: eventlog.Answered, Shown: 400, Rule: "manual", Databases: gitlab})
	log(1, eventlog.Event{Tool: "Bash", Outcome: eventlog.Prompted, Shown: 40, Rule: "push"})
	log(2, eventlog.Event{Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed})
	at = at.AddDate(0, 0, 3)
	for _, q := range []string{"prisma migrate  deploy", "Prisma schema", "<script>alert(1)</script>",
		"prisma\tmigrate deploy", "redis streams", "streams in Redis", "weather"} {
		log(1, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unmatched, Query: q})
	}
	log(5, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unmatched})
	return l
}
