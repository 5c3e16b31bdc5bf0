package adapt

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// follow returns the searches of a log with one event per minute.
func follow(events []eventlog.Event) []*Search {
	var f Follower
	for i, e := range events {
		if e.At.IsZero() {
			e.At = start.Add(time.Duration(i) * time.Minute)
		}
		f.Add(e)
	}
	return f.Searches()
}

func TestReactions(t *testing.T) {
	denied := eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Answered, Session: "s", Call: "1", Databases: []string{"a"}}
	other, unknown := denied, denied
	other.Call, unknown.Session, unknown.Call = "2", "", ""
	nameless := denied // of a host without sessions
	nameless.Call = ""
	retry := func(e eventlog.Event) eventlog.Event { e.Outcome = eventlog.Retried; return e }
	search := eventlog.Event{Tool: "mcp__docsearch__search", Outcome: eventlog.Allowed, Session: "s"}
	list := eventlog.Event{Tool: "mcp__docsearch__list_databases", Outcome: eventlog.Allowed, Session: "s"}
	shell := eventlog.Event{Tool: "Bash", Outcome: eventlog.Consulted, Session: "s"}
	elsewhere, late := search, retry(denied)
	elsewhere.Session, late.At = "t", start.Add(Window+time.Second)
	fetch := denied
	fetch.Tool = "WebFetch"
	ran := eventlog.Event{Tool: "WebSearch", Outcome: eventlog.Unanswered, Session: "s", Call: "3", Databases: []string{"b", "a"}}
	together, unrelated := ran, ran
	together.At = start.Add(time.Second)
	unrelated.Databases = []string{"b"}
	for _, test := range []struct {
		name   string
		events []eventlog.Event
		want   []Reaction
	}{
		{"none", []eventlog.Event{denied}, []Reaction{None}},
		{"retried", []eventlog.Event{denied, retry(denied)}, []Reaction{Retried}},
		{"retried once", []eventlog.Event{denied, retry(denied), denied}, []Reaction{Retried, None}},
		{"the earlier of two retried", []eventlog.Event{denied, other, retry(denied)}, []Reaction{Retried, None}},
		{"the later of two retried", []eventlog.Event{denied, other, retry(other)}, []Reaction{None, Retried}},
		{"without sessions: the later one", []eventlog.Event{nameless, nameless, retry(nameless)}, []Reaction{None, Retried}},
		{"too late", []eventlog.Event{denied, late}, []Reaction{None}},
		{"searched", []eventlog.Event{denied, search}, []Reaction{Searched}},
		{"searched in a shell", []eventlog.Event{denied, shell}, []Reaction{Searched}},
		{"searched and retried", []eventlog.Event{denied, search, retry(denied)}, []Reaction{Retried}},
		{"retried and searched", []eventlog.Event{denied, retry(denied), search}, []Reaction{Retried}},
		{"searched the web in other words", []eventlog.Event{denied, ran}, []Reaction{Reworded, ""}},
		{"searched, then the web, then again", []eventlog.Event{denied, search, ran, search}, []Reaction{Reworded, ""}},
		{"searched the web at the same time", []eventlog.Event{denied, together}, []Reaction{None, ""}},
		{"searched the web for something else", []eventlog.Event{denied, unrelated}, []Reaction{None, ""}},
		{"listed", []eventlog.Event{denied, list}, []Reaction{None}},
		{"another agent searches", []eventlog.Event{denied, elsewhere}, []Reaction{None}},
		{"another tool", []eventlog.Event{denied, retry(fetch)}, []Reaction{None}},
		{"of an older version", []eventlog.Event{unknown, retry(unknown)}, []Reaction{""}},
		{"a search that ran", []eventlog.Event{{Tool: "WebSearch", Outcome: eventlog.Unanswered, Session: "s"}, search}, []Reaction{""}},
	} {
		var got []Reaction
		for _, s := range follow(test.events) {
			got = append(got, s.Reaction)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// search returns a denied search with a reaction.
func search(confidence float64, r Reaction, minute int) *Search {
	return &Search{
		Event:  eventlog.Event{At: start.Add(time.Duration(minute) * time.Minute), Databases: []string{"a"}, Confidence: []float64{confidence}},
		Denied: r != "", Reaction: r,
	}
}

func TestObserve(t *testing.T) {
	db := Database{Name: "a", Path: "/a", Base: .5}
	var weak, strong []*Search
	for i := range 40 {
		weak = append(weak, search(.51, Retried, 2*i))
		strong = append(strong, search(.99, None, 2*i+1))
	}
	both := func(n int) (list []*Search) {
		for i := range n {
			list = append(list, weak[i], strong[i])
		}
		return list
	}
	for _, test := range []struct {
		name     string
		db       Database
		searches []*Search
		until    int // minute
		want     float64
	}{
		{"nothing", db, nil, 100, 0},
		{"too few denials for a step", db, both(4), 100, 0},
		{"weak denials are retried", db, both(40), 100, .52},
		{"not yet decided", db, both(40), 4, 0},
		{"nobody retries", db, strong, 100, 0},
		{"a higher threshold of the build", Database{Name: "a", Path: "/a", Base: .6}, both(40), 100, 0},
		{"another database", Database{Name: "b", Path: "/b", Base: .5}, both(40), 100, 0},
	} {
		all := &Thresholds{Databases: map[string]*Entry{}}
		moved := all.Observe([]Database{test.db}, test.searches, start.Add(time.Duration(test.until)*time.Minute))
		if e := all.Entry(test.db.Name, test.db.Path); e.Threshold != test.want || moved != (test.want > 0) {
			t.Errorf("%s: threshold %.2f, want %.2f; moved %t", test.name, e.Threshold, test.want, moved)
		}
	}
}

// However often the log is observed, each search counts once, and the result is the same.
func TestObserveOnce(t *testing.T) {
	var searches []*Search
	for i := range 200 {
		r := None
		if i%3 > 0 {
			r = Retried
		}
		searches = append(searches, search(.5+float64(i%25)/50, r, i))
	}
	db := []Database{{Name: "a", Path: "/a", Base: .5}}
	at := func(i int) time.Time { return start.Add(time.Duration(i) * time.Minute) }
	once, often := &Thresholds{Databases: map[string]*Entry{}}, &Thresholds{Databases: map[string]*Entry{}}
	once.Observe(db, searches, at(200))
	for i := range 201 {
		often.Observe(db, searches, at(i))
		often.Observe(db, searches, at(i))
	}
	if diff := cmp.Diff(once, often); diff != "" {
		t.Errorf("(-once +often):\n%s", diff)
	}
	if e := once.Entry("a", "/a"); e.Denials != 200 || e.Retries != 133 || e.Threshold <= .5 {
		t.Errorf("%d denials, %d retries, threshold %.2f", e.Denials, e.Retries, e.Threshold)
	}
}

// The bounds hold after every search, whatever the reactions and the confidences are.
func TestBounds(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		base := .5 + rng.Float64()/10
		e := &Evidence{}
		now, rate, spread := base, rng.Float64(), 1+4*rng.Float64()
		for i := range 1000 {
			if i%300 == 0 {
				rate = rng.Float64()
			}
			c := 1 - (1-base)*rng.Float64()/spread
			s := search(c, "", i)
			if s.Denied = c >= now; s.Denied && rng.Float64() < rate {
				s.Reaction = Retried
			}
			e.observe(s, c)
			before := now
			now = e.move(now, base)
			if low, high := e.bounds(base); now < base || now > Highest || level(now) > high || level(now) < low || now > before+Step+.011 {
				t.Fatalf("seed %d, search %d: the threshold moves from %.3f to %.3f; build %.3f, levels %d to %d", seed, i, before, now, base, low, high)
			}
			if all, denied := sum(e.Searches[:]), sum(e.Searches[level(now):]); denied < minDenied*all-1e-9 && now > base {
				t.Fatalf("seed %d, search %d: the threshold %.2f denies %.1f of %.1f", seed, i, now, denied, all)
			}
		}
	}
}

// A current level outside of the bounds does not stay, however little another one saves.
func TestBestWithinBounds(t *testing.T) {
	for _, test := range []struct {
		current int
		base    float64
	}{{0, .6}, {15, Lowest}} {
		if got, want := (&Evidence{}).best(test.current, test.base), level(test.base); got != want {
			t.Errorf("from level %d with the build's %.2f: level %d, want %d", test.current, test.base, got, want)
		}
	}
}

// A threshold that has risen falls again if the denials above it were right, and stays if
// most of them were retried.
func TestRisenThreshold(t *testing.T) {
	const risen = 13
	kept, retried := &Evidence{}, &Evidence{}
	for _, e := range []*Evidence{kept, retried} {
		e.Searches[bins-1] = 30
	}
	kept.Kept[bins-1] = 30
	retried.Kept[bins-1], retried.Retried[bins-1] = 10, 20
	if got := kept.best(risen, Lowest); got != 0 {
		t.Errorf("denials were right: level %d, want 0", got)
	}
	if got := retried.best(risen, Lowest); got != risen {
		t.Errorf("denials were retried: level %d, want %d", got, risen)
	}
}

func TestStore(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "state")}
	if all, err := s.Read(); err != nil || len(all.Databases) > 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	evidence := Evidence{Denials: 3, Retries: 1, Pending: 3}
	evidence.Kept[4] = 1.5
	want := &Thresholds{Version: fileVersion, Databases: map[string]*Entry{
		"adapted": {Path: "/adapted", Threshold: .62, Seen: start, Evidence: evidence}, "as built": {Path: "/built", Seen: start},
	}}
	if err := s.Update(func(all *Thresholds) {
		*all.entry("adapted", "/adapted") = *want.Databases["adapted"]
		all.entry("as built", "/built").Seen = start
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Read()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	c := config.Config{Databases: []config.Database{{Name: "adapted", Path: "/adapted"}, {Name: "as built", Path: "/built"}, {Name: "adapted", Path: "/other"}}}
	got.Apply(&c)
	for i, want := range []float64{.62, 0, 0} {
		if c.Databases[i].Threshold != want {
			t.Errorf("threshold %.2f of %s, want %.2f", c.Databases[i].Threshold, c.Databases[i].Path, want)
		}
	}
}

func TestStoreDamaged(t *testing.T) {
	for _, text := range []string{
		"", "{", "[]", `{"version": 2}`, `{"version": 1, "databases": {"a": null}}`,
		`{"version": 1, "databases": {"a": {"threshold": 0.3}}}`, `{"version": 1, "databases": {"a": {"threshold": 1}}}`,
		`{"version": 1, "databases": {"a": {"kept": [1e999]}}}`,
	} {
		s := Store{t.TempDir()}
		if err := os.WriteFile(filepath.Join(s.Dir, fileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Read(); err == nil {
			t.Errorf("%q reads as %+v", text, all)
		}
		if err := s.Update(func(all *Thresholds) { all.entry("a", "/a").Threshold = .6 }); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if all, err := s.Read(); err != nil || all.Entry("a", "/a") == nil {
			t.Errorf("%q was not replaced: %v", text, err)
		}
	}
}

// No file makes the thresholds leave their range.
func FuzzThresholds(f *testing.F) {
	f.Add([]byte(`{"version": 1, "databases": {"a": {"path": "/a", "threshold": 0.62, "kept": [1, 2], "searches": [0, 1e300], "pending": 100}}}`))
	f.Add([]byte(`{"version": 1, "databases": {"a": {"path": "/a", "retried": [-1e308, 1e308], "denials": -1, "seen": "2026-01-02T03:04:05Z"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all := &Thresholds{}
		if all.parse(data) != nil || all.Databases == nil {
			return
		}
		for i := range 30 {
			all.Observe([]Database{{"a", "/a", .55}}, []*Search{search(.6, Retried, i), search(.99, None, i)}, start.Add(time.Duration(i)*time.Minute))
		}
		c := config.Config{Databases: []config.Database{{Name: "a", Path: "/a"}}}
		all.Apply(&c)
		if got := c.Databases[0].Threshold; got != 0 && !(got >= Lowest && got <= Highest) {
			t.Errorf("threshold %v", got)
		}
	})
}
