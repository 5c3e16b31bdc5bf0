package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/eventlog"
)

// writeWeekLog writes the log of a week with every kind of event.
func writeWeekLog(t *testing.T) eventlog.Log {
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
	log(1200, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Answered, Shown: 4000, Databases: gitlab})
	log(1, eventlog.Event{Tool: "WebFetch", Outcome: eventlog.Answered, Shown: 8000, Databases: gitlab})
	log(2, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Redirected, Shown: 1000, Databases: both})
	at = at.AddDate(0, 0, 3)
	log(3, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Retried})
	log(4, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unanswered, Databases: gitlab})
	log(1, eventlog.Event{Tool: "Bash", Outcome: eventlog.Denied, Shown: 40, Rule: "bash-kubectl-with-a-name-that-is-long"})
	log(1, eventlog.Event{Tool: "Bash", Outcome: eventlog.Answered, Shown: 400, Rule: "manual", Databases: gitlab})
	log(1, eventlog.Event{Tool: "Bash", Outcome: eventlog.Prompted, Shown: 40, Rule: "push"})
	log(2, eventlog.Event{Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed})
	at = at.AddDate(0, 0, 3)
	for _, q := range []string{"prisma migrate  deploy", "Prisma schema", "<script>alert(1)</script>", "prisma\tmigrate deploy", "redis streams", "streams in Redis", "weather"} {
		log(1, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unmatched, Query: q})
	}
	log(5, eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unmatched})
	return l
}

func TestPrintStats(t *testing.T) {
	s, err := readStats(writeWeekLog(t), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&app{stdout: &out}).printStats(s, false); err != nil {
		t.Fatal(err)
	}
	const want = `1,228 events from 2026-01-02 to 2026-01-08

by call                 answered  redirected  denied  prompted  context  retried  unanswered  unmatched  allowed
WebSearch                  1,200           2                                   3           4         12
Bash                           1                   1         1
mcp__docsearch__search                                                                                         2
SessionStart                                                          1
WebFetch                       1

by database   answered  redirected  context  unanswered
gitlab           1,202           2        1           4
<k8s> & "co"                     2        1

by rule                   answered  denied  prompted
bash-kubectl-with-a-n...                 1
manual                           1
push                                               1

web searches that match no database
      3  prisma
         prisma migrate deploy
         Prisma schema
         docsearch setup prisma
      2  redis
         streams in Redis
         redis streams
         docsearch setup redis
      2  without a common word

5 web searches without a matching database; to see future ones here, set "log_queries": true in the config's "hook"

saved about 1,792,400 tokens and 3.3 hours
Estimate: each answered search or fetch counts as one web call saved, and each
retry as one web call added. A web call counts as 2,500 tokens and 10 seconds.
The estimate subtracts the 4,810,400 bytes of all answers and redirections, at 4
bytes per token, and 0.011 seconds per event, as measured in Claude Code. It
cannot account for calls that the agent would have made without docsearch.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatsSince(t *testing.T) {
	s, err := readStats(writeWeekLog(t), time.Date(2026, 1, 5, 12, 0, 0, 0, time.Local))
	if err != nil {
		t.Fatal(err)
	}
	if s.Events != 24 || s.Outcomes[eventlog.Answered] != 1 || s.Saved.Calls != 0 {
		t.Errorf("%d events, outcomes %v, saved %+v", s.Events, s.Outcomes, s.Saved)
	}
}

// The page is well-formed, contains the names in the log, and escapes them.
func TestStatsPage(t *testing.T) {
	s, err := readStats(writeWeekLog(t), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.page(time.Date(2026, 1, 9, 0, 0, 0, 0, time.Local))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"1,228 events from 2026-01-02 to 2026-01-08", "<h2>Saved about 1,792,400 tokens and 3.3 hours</h2>",
		"<title>2026-01-05: 4 unanswered</title>", "<title>gitlab: 1,202 answered</title>", "&lt;k8s&gt; &amp; &#34;co&#34;",
		"<code>docsearch setup prisma</code>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, bad := range []string{"<script", "://", "ZgotmplZ", "NaN", `width="-`, `height="-`, `y="-`} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, svg := range strings.Split(text, "<figure>")[1:] {
		svg, _, _ = strings.Cut(svg, "</figure>")
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
		}
	}
	empty, err := readStats(eventlog.Log{Dir: t.TempDir()}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := empty.page(time.Now()); err != nil || !bytes.Contains(data, []byte("The log has no events in this period.")) {
		t.Errorf("of no events: %v\n%s", err, data)
	}
}

func TestGroupQueries(t *testing.T) {
	for _, test := range []struct {
		name    string
		queries []string
		want    []queryGroup
		alone   int
	}{
		{name: "none"},
		{name: "one", queries: []string{"redis"}, alone: 1},
		{name: "generic words join nothing", queries: []string{"how to fix error 404 in traefik", "how to fix error 404 in nginx"}, alone: 2},
		{
			name: "forms of a word", queries: []string{"kafka consumers", "Kafka consumer lag"},
			want: []queryGroup{{"kafka", 2, []string{"Kafka consumer lag", "kafka consumers"}, "docsearch setup kafka"}},
		},
		{
			name: "the first word is what they are about", queries: []string{"terraform state lock", "terraform lock file"},
			want: []queryGroup{{"terraform", 2, []string{"terraform lock file", "terraform state lock"}, "docsearch setup terraform"}},
		},
		{
			name: "symbols and versions", queries: []string{"c++ 17 concepts", "c++ ranges v3.1", "c pointers", "c strings"},
			want: []queryGroup{
				{"c", 2, []string{"c strings", "c pointers"}, "docsearch setup c"},
				{"c++", 2, []string{"c++ ranges v3.1", "c++ 17 concepts"}, "docsearch setup cpp"},
			},
		},
		{
			name: "no recipe", queries: []string{"frobnicator crank", "frobnicator bell"},
			want: []queryGroup{{"frobnicator", 2, []string{"frobnicator bell", "frobnicator crank"}, "docsearch setup frobnicator SOURCE"}},
		},
		{
			name: "the same query again", queries: []string{"vite proxy", "vite proxy", "rollup", "vite proxy"},
			want: []queryGroup{{"vite", 3, []string{"vite proxy"}, "docsearch setup vite"}}, alone: 1,
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
