package activity

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/eventlogtest"
)

func TestStatsSince(t *testing.T) {
	s, err := Read(eventlogtest.Week(t), time.Date(2026, 1, 5, 12, 0, 0, 0, time.Local))
	if err != nil {
		t.Fatal(err)
	}
	if s.Events != 23 || s.Outcomes[eventlog.Answered] != 1 || s.Saved.Calls != 0 {
		t.Errorf("%d events, outcomes %v, saved %+v", s.Events, s.Outcomes, s.Saved)
	}
}

// Only the first of equal searches and no search after which the agent went on saves a call.
func TestSavedCalls(t *testing.T) {
	answered := func(session, call string) eventlog.Event {
		return eventlog.Event{Session: session, Call: call, Tool: "WebSearch", Outcome: eventlog.Answered, Databases: []string{"a"}}
	}
	l := eventlog.Log{Dir: t.TempDir()}
	for i, e := range []eventlog.Event{
		answered("saved", "1"), answered("saved", "1"), answered("saved", "2"),
		answered("retried", "1"), {Session: "retried", Call: "1", Tool: "WebSearch", Outcome: eventlog.Retried, Databases: []string{"a"}},
		answered("searched", "1"), {Session: "searched", Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed},
		answered("reworded", "1"), {Session: "reworded", Call: "2", Tool: "WebSearch", Outcome: eventlog.Unanswered, Databases: []string{"a"}},
		answered("", "1"),
	} {
		e.At, e.Name = time.Unix(1_800_000_000+10*int64(i), 0), "PreToolUse"
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Read(l, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Saved.Calls != 2 {
		t.Errorf("%d calls saved, want 2", s.Saved.Calls)
	}
}

func TestGroupQueries(t *testing.T) {
	for _, test := range []struct {
		name    string
		queries []string
		want    []QueryGroup
		alone   int
	}{
		{name: "none"},
		{name: "one", queries: []string{"redis"}, alone: 1},
		{name: "generic words join nothing", queries: []string{"how to fix error 404 in traefik", "how to fix error 404 in nginx"}, alone: 2},
		{
			name: "forms of a word", queries: []string{"kafka consumers", "Kafka consumer lag"},
			want: []QueryGroup{{"kafka", 2, []string{"Kafka consumer lag", "kafka consumers"}, "docsearch setup kafka"}},
		},
		{
			name: "the first word is what they are about", queries: []string{"terraform state lock", "terraform lock file"},
			want: []QueryGroup{{"terraform", 2, []string{"terraform lock file", "terraform state lock"}, "docsearch setup terraform"}},
		},
		{
			name: "symbols and versions", queries: []string{"c++ 17 concepts", "c++ ranges v3.1", "c pointers", "c strings"},
			want: []QueryGroup{
				{"c", 2, []string{"c strings", "c pointers"}, "docsearch setup c"},
				{"c++", 2, []string{"c++ ranges v3.1", "c++ 17 concepts"}, "docsearch setup cpp"},
			},
		},
		{
			name: "no recipe", queries: []string{"frobnicator crank", "frobnicator bell"},
			want: []QueryGroup{{"frobnicator", 2, []string{"frobnicator bell", "frobnicator crank"}, "docsearch setup frobnicator SOURCE"}},
		},
		{
			name: "the same query again", queries: []string{"vite proxy", "vite proxy", "rollup", "vite proxy"},
			want: []QueryGroup{{"vite", 3, []string{"vite proxy"}, "docsearch setup vite"}}, alone: 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, alone, err := groupQueries(test.queries)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || alone != test.alone {
				t.Errorf("%d alone, want %d; groups (-want +got):\n%s", alone, test.alone, diff)
			}
		})
	}
}
