package activity

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// logOf returns a summary of web searches, one second apart.
func logOf(t *testing.T, events ...eventlog.Event) (*Summary, eventlog.Log) {
	t.Helper()
	l := eventlog.Log{Dir: t.TempDir()}
	for i, e := range events {
		e.At, e.Host, e.Name = time.Date(2026, 1, 2, 12, 0, i, 0, time.UTC), "claude", "PreToolUse"
		if e.Tool == "" {
			e.Tool = "WebSearch"
		}
		if err := l.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Read(l, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	if err := s.Advise(&c); err != nil {
		t.Fatal(err)
	}
	return s, l
}

func TestRecent(t *testing.T) {
	s, _ := logOf(t,
		eventlog.Event{Session: "s", Call: "c", Outcome: eventlog.Answered, Query: "runner cache", Databases: []string{"gitlab"}, Confidence: []float64{.8}},
		eventlog.Event{Session: "s", Call: "d", Outcome: eventlog.Answered, Query: "runner tags", Databases: []string{"gitlab"}},
		eventlog.Event{Session: "s", Call: "c", Outcome: eventlog.Retried, Databases: []string{"gitlab"}},
		eventlog.Event{Session: "s", Tool: "Bash", Outcome: eventlog.Denied, Rule: "push"},
	)
	var got []string
	now := time.Now().Add(time.Hour)
	for _, e := range s.Recent {
		got = append(got, fmt.Sprint(e.Outcome, " ", e.Query, " ", describe(e, now)))
	}
	want := []string{"denied  denied by the rule push", "retried  ", "answered runner tags denied and used", "answered runner cache denied, then searched the web"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A summary keeps the newest events only.
func TestRecentIsLimited(t *testing.T) {
	s := &Summary{}
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for i := range 3*maxRecent + 7 {
		s.follow(&eventlog.Event{At: at.Add(time.Duration(i) * time.Second), Outcome: eventlog.Allowed})
	}
	s.keepRecent()
	newest := at.Add(time.Duration(3*maxRecent+6) * time.Second)
	if len(s.Recent) != maxRecent || !s.Recent[0].At.Equal(newest) {
		t.Errorf("%d events, the first at %v; want %d, the first at %v", len(s.Recent), s.Recent[0].At, maxRecent, newest)
	}
}

// A marked decision is an example that eval reads, and can be unmarked.
func TestLabels(t *testing.T) {
	s, l := logOf(t,
		eventlog.Event{Outcome: eventlog.Answered, Query: "runner\tcache", Databases: []string{"gitlab", "k8s"}},
		eventlog.Event{Outcome: eventlog.Unmatched, Query: "helm values"},
		eventlog.Event{Outcome: eventlog.Answered, Databases: []string{"gitlab"}},
		eventlog.Event{Tool: "WebFetch", Outcome: eventlog.Answered, Query: "x", Databases: []string{"gitlab"}},
	)
	labels := Labels{Dir: l.Dir}
	fetch, noQuery, unmatched, answered := s.Recent[0], s.Recent[1], s.Recent[2], s.Recent[3]
	for _, e := range []*Entry{answered, unmatched, answered} {
		if err := labels.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range []*Entry{noQuery, fetch} {
		if err := labels.Add(e); err == nil {
			t.Errorf("%s of %q can be marked", e.Tool, e.Query)
		}
	}
	queries, err := eval.ReadJudged(labels.Path(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, q := range queries {
		got += fmt.Sprintf("%q %q %v %v\n", q.Set, q.Text, *q.Answer, q.IsDecision())
	}
	const want = `"" "helm values" true true
"gitlab" "runner\tcache" false true
"k8s" "runner\tcache" false true
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if st, err := os.Stat(labels.Path()); err != nil || atomicfile.IsExposed(st.Mode()) {
		t.Errorf("others can read the examples: %v, %v", st.Mode(), err)
	}
	if err := labels.Remove(answered.ID()); err != nil {
		t.Fatal(err)
	}
	if left, err := labels.Read(); err != nil || len(left) != 1 || left[0].ID != unmatched.ID() {
		t.Errorf("%v %v, want the example of %s", left, err, unmatched.ID())
	}
}

// A damaged file is kept.
func TestDamagedLabels(t *testing.T) {
	s, l := logOf(t, eventlog.Event{Outcome: eventlog.Unmatched, Query: "helm values"})
	path := filepath.Join(l.Dir, labelsName)
	if err := os.WriteFile(path, []byte("{\"id\":\"a\",\"text\":\"q\"}\n{broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (Labels{Dir: l.Dir}).Add(s.Recent[0]); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v, want one of line 2", err)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "broken") {
		t.Errorf("the file was replaced: %q, %v", data, err)
	}
}

func FuzzParseLabels(f *testing.F) {
	f.Add([]byte(`{"id":"1-2","ds":"gitlab","text":"q","answer":false,"source":"marked as wrong"}` + "\n"))
	f.Add([]byte("\n{}\nnull\n[1]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		labels, err := parseLabels(data)
		if err == nil && len(labels) > strings.Count(string(data), "\n")+1 {
			t.Errorf("%d examples of %d lines", len(labels), strings.Count(string(data), "\n")+1)
		}
	})
}
