// Package adapt simulates how the confidence threshold of a database adapts to agents that
// react to denials in different ways.
package adapt

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

var update = flag.Bool("update", false, "write the table in docs/trust.md")

const (
	sessions = 160
	searches = 10 // per session
	quarters = 4
	// maxRange is the range of the threshold that counts as converged.
	maxRange = 3*adapt.Step + 1e-9
)

// An agent decides whether to send a denied search again.
type agent struct {
	name    string
	retries func(wrong bool, done float64, rng *rand.Rand) bool // done: the share of the simulation
	moving  bool                                                // the threshold need not converge
}

var agents = []agent{
	{name: "never", retries: func(bool, float64, *rand.Rand) bool { return false }},
	{name: "wrong denials only", retries: func(wrong bool, _ float64, _ *rand.Rand) bool { return wrong }},
	{name: "one of five at random", retries: func(_ bool, _ float64, rng *rand.Rand) bool { return rng.IntN(5) == 0 }},
	{name: "half at random", retries: func(_ bool, _ float64, rng *rand.Rand) bool { return rng.IntN(2) == 0 }},
	{name: "always", retries: func(bool, float64, *rand.Rand) bool { return true }},
	{name: "always, then never", moving: true, retries: func(_ bool, done float64, _ *rand.Rand) bool { return done < .25 }},
	{name: "never, then always", retries: func(_ bool, done float64, _ *rand.Rand) bool { return done >= .25 }},
}

// An outcome is the result of a simulation, by quarter.
type outcome struct {
	base      float64
	low, high [quarters]float64 // of the threshold
	final     [quarters]float64 // threshold at the end
	asked     [quarters]int     // searches whose confidence reaches the threshold of the build
	denied    [quarters]int
	wrong     [quarters]int // denials
}

// TestAdaptation replays recorded sessions with each agent. The hook, its state, its log
// and the thresholds are the real ones; only the agent's reactions are simulated.
func TestAdaptation(t *testing.T) {
	dir := build(t)
	transcript, wrong := sessionsOf(t, dir)
	results := make([]outcome, len(agents))
	search := &searcher{answers: map[string]hook.Answer{}}
	t.Run("agents", func(t *testing.T) {
		for i := range agents {
			t.Run(agents[i].name, func(t *testing.T) {
				t.Parallel()
				results[i] = simulate(t, &agents[i], search, dir, transcript, wrong)
			})
		}
	})
	if t.Failed() {
		return
	}
	never := &results[0]
	for i := range results {
		r := &results[i]
		for q := range quarters {
			if r.low[q] < r.base || r.high[q] > adapt.Highest {
				t.Errorf("%s: the threshold is from %.2f to %.2f, want %.2f to %.2f", agents[i].name, r.low[q], r.high[q], r.base, adapt.Highest)
			}
			if r.denied[q] > never.denied[q] {
				t.Errorf("%s, quarter %d: %d denials, more than the %d without a retry", agents[i].name, q+1, r.denied[q], never.denied[q])
			}
			if 100*r.denied[q] < 40*r.asked[q] {
				t.Errorf("%s, quarter %d: %d of %d searches denied, want at least 40%%", agents[i].name, q+1, r.denied[q], r.asked[q])
			}
		}
		if last := quarters - 1; !agents[i].moving && r.high[last]-r.low[last] > maxRange {
			t.Errorf("%s: the threshold moves from %.2f to %.2f in the last quarter", agents[i].name, r.low[last], r.high[last])
		}
	}
	if never.high[quarters-1] != never.base {
		t.Errorf("the threshold moves to %.2f without a retry", never.high[quarters-1])
	}
	if r := &results[1]; r.final[quarters-1] <= r.base || r.wrong[quarters-1]*4 > never.wrong[quarters-1]*3 {
		t.Errorf("the threshold %.2f leaves %d of %d wrong denials", r.final[quarters-1], r.wrong[quarters-1], never.wrong[quarters-1])
	}
	// Old retries let the threshold rise a while longer, so that it falls from its highest.
	if r := &results[5]; r.final[quarters-1] > r.high[quarters-1]-.1 {
		t.Errorf("the threshold only falls from %.2f to %.2f after the retries end", r.high[quarters-1], r.final[quarters-1])
	}
	checkTable(t, table(results))
}

// simulate replays the sessions with an agent. It moves the threshold after each session.
func simulate(t *testing.T, a *agent, search hook.Searcher, dir string, transcript []byte, wrong map[string]bool) outcome {
	rng := rand.New(rand.NewPCG(1, 2))
	c := config.Default()
	c.Hook.Adapt, c.Hook.TimeoutMS = true, config.MaxTimeoutMS
	c.Databases = []config.Database{{Name: "kiln", Keywords: []string{"kiln"}, Path: dir, Description: "Kiln"}}
	db := &c.Databases[0]
	l := config.Locations{State: t.TempDir()}
	info, err := index.Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := outcome{base: info.Confidence.Threshold}
	now := time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)
	calls := 0
	run := func(e event.Event) (denied bool) {
		calls++
		now = now.Add(20 * time.Second)
		e.Use = fmt.Sprint("call-", calls)
		p := &hook.Process{Event: &e, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: func() time.Time { return now }}
		return p.Run(&c, l, nil, search) == host.ExitDeny
	}
	session, number := "", -1
	q := 0
	endSession := func() {
		now = now.Add(time.Hour)
		db.Threshold = adaptTo(t, l, &c, out.base, now)
		q = number * quarters / sessions
		current := max(out.base, db.Threshold)
		if out.low[q] == 0 {
			out.low[q] = current
		}
		out.low[q], out.high[q], out.final[q] = min(out.low[q], current), max(out.high[q], current), current
	}
	_, err = replay.Read(strings.NewReader(string(transcript)), func(e replay.Event) error {
		if e.Name != event.PreToolUse {
			return nil
		}
		if e.Session != session {
			if number >= 0 {
				endSession()
			}
			session, number = e.Session, number+1
			q = number * quarters / sessions
		}
		bad := wrong[e.Search.Query]
		answer, err := search.Search(db, e.Search)
		if err != nil {
			return err
		}
		if answer.Confidence >= out.base {
			out.asked[q]++
		}
		if !run(e.Event) {
			return nil
		}
		out.denied[q]++
		if bad {
			out.wrong[q]++
		}
		switch {
		case a.retries(bad, float64(number)/sessions, rng):
			if run(e.Event) {
				return fmt.Errorf("the retry of %q was denied", e.Search.Query)
			}
		case rng.IntN(2) == 0:
			further := event.Event{Host: e.Host, Name: event.PreToolUse, Session: e.Session, Tool: "mcp__docsearch__search"}
			run(further)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	endSession()
	return out
}

// A searcher searches for each query once, without an adapted threshold, and then applies
// the threshold as the index does.
type searcher struct {
	lookup.Indexes
	mu      sync.Mutex
	answers map[string]hook.Answer
}

func (s *searcher) Search(db *config.Database, q event.Search) (hook.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.answers[q.Query]
	if !known {
		built := *db
		built.Threshold = 0
		var err error
		if a, err = s.Indexes.Search(&built, q); err != nil {
			return a, err
		}
		s.answers[q.Query] = a
	}
	a.Confident = a.Confident && a.Confidence >= db.Threshold
	return a, nil
}

// adaptTo moves the threshold by the log, and returns the threshold that the config gets.
func adaptTo(t *testing.T, l config.Locations, c *config.Config, base float64, now time.Time) float64 {
	t.Helper()
	var f adapt.Follower
	if _, err := (eventlog.Log{Dir: l.State}).Read(func(e eventlog.Event) error {
		f.Add(e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	store := adapt.Store{Dir: l.State}
	db := c.Databases[0]
	if err := store.Update(func(all *adapt.Thresholds) {
		all.Observe([]adapt.Database{{Name: db.Name, Path: db.Path, Base: base}}, f.Searches(), now.Add(-adapt.Window))
	}); err != nil {
		t.Fatal(err)
	}
	all, err := store.Read()
	if err != nil {
		t.Fatal(err)
	}
	next := config.Config{Databases: []config.Database{{Name: db.Name, Path: db.Path}}, Hook: c.Hook}
	all.Apply(&next)
	return next.Databases[0].Threshold
}

// build builds the database of a fictional program's manual.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, err := ingest.NewFolder(filepath.Join("..", "rank", "testdata", "kiln"), folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, source, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sessionsOf returns a transcript of sessions with web searches, and which searches the
// manual does not answer. A search that it answers has words of one of its sentences. One
// that it does not answer has some of these, and words of a query about something else.
func sessionsOf(t *testing.T, dir string) (transcript []byte, wrong map[string]bool) {
	t.Helper()
	db, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var texts [][]string
	g, err := generation.Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	passages, err := passage.OpenTable(g)
	if err != nil {
		t.Fatal(err)
	}
	defer passages.Close()
	for n := range passages.Passages() {
		p, err := passages.Passage(uint32(n))
		if err != nil {
			t.Fatal(err)
		}
		if words := wordsOf(p.Text); len(words) > 12 && p.Kind() != passage.ReleaseNotes { // which deny no search
			texts = append(texts, words)
		}
	}
	others, err := db.OutOfDomainQueries()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	fragment := func(words []string, n int) []string {
		start := rng.IntN(max(1, len(words)-n+1))
		return words[start:min(len(words), start+n)]
	}
	wrong = map[string]bool{}
	for s := range sessions {
		for i := range searches {
			text := texts[rng.IntN(len(texts))]
			other := wordsOf(others[rng.IntN(len(others))])
			words := append([]string{"kiln"}, fragment(text, 2+rng.IntN(3))...)
			words = append(words, fragment(other, rng.IntN(2))...)
			if i%3 == 0 {
				words = append([]string{"kiln"}, fragment(text, 1+rng.IntN(2))...)
				words = append(words, fragment(other, 1+rng.IntN(3))...)
			}
			query := strings.Join(words, " ")
			wrong[query] = i%3 == 0
			line, err := json.Marshal(map[string]any{
				"type": "assistant", "sessionId": fmt.Sprint("session-", s), "cwd": "/p",
				"message": map[string]any{"content": []any{map[string]any{
					"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", s, i), "name": "WebSearch", "input": map[string]any{"query": query},
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			transcript = append(append(transcript, line...), '\n')
		}
	}
	return transcript, wrong
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' })
}

// table returns the table of docs/trust.md.
func table(results []outcome) string {
	var b strings.Builder
	b.WriteString("| the agent retries | threshold after each quarter | range in the last quarter | denied in the last quarter | of these, wrong |\n| --- | --- | --- | --- | --- |\n")
	for i := range results {
		r := &results[i]
		last := quarters - 1
		fmt.Fprintf(&b, "| %s | %.2f, %.2f, %.2f, %.2f | %.2f to %.2f | %d of %d | %d |\n", agents[i].name,
			r.final[0], r.final[1], r.final[2], r.final[3], r.low[last], r.high[last], r.denied[last], r.asked[last], r.wrong[last])
	}
	return b.String()
}

// checkTable compares the table with that of docs/trust.md.
func checkTable(t *testing.T, table string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "trust.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(data), "\r\n", "\n")
	marks := regexp.MustCompile(`(?s)(<!-- generated by go test ./test/adapt -update -->\n).*?(<!-- end -->\n)`)
	if !marks.MatchString(page) {
		t.Fatalf("%s has no marks for the table", path)
	}
	want := marks.ReplaceAllString(page, "${1}"+strings.ReplaceAll(table, "$", "$$")+"${2}")
	if want == page {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the table in docs/trust.md differs; to write it, run: go test ./test/adapt -update\n%s", table)
}
