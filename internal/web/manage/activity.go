package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/web"
)

// periods are the choices of the activity page.
var periods = [...]period{{"1", "last day", 1}, {"7", "last 7 days", 7}, {"30", "last 30 days", 30}, {"all", "all", 0}}

type period struct {
	Value, Title string
	days         int
}

const (
	defaultPeriod = "7"
	// recentShown limits the events on the page.
	recentShown = 50
)

func (p period) since(now time.Time) time.Time {
	if p.days == 0 {
		return time.Time{}
	}
	return now.AddDate(0, 0, -p.days)
}

func periodOf(value string) period {
	i := slices.IndexFunc(periods[:], func(p period) bool { return p.Value == cmp.Or(value, defaultPeriod) })
	if i < 0 {
		return periodOf("")
	}
	return periods[i]
}

// A summaryCache keeps the summaries of one state of the event log, by period: several
// pages show the same one, and the log has up to 4 MiB.
type summaryCache struct {
	reading parallel.Shared[*activity.Summary] // by state and period

	mu    sync.Mutex // not held while the log is read
	stamp string
	at    time.Time
	byAge map[string]*activity.Summary
}

// summaryAge is the maximum age of a summary in the cache. The proposals in it depend on
// the databases, too.
const summaryAge = time.Minute

// summary returns the summary of a period. Callers must not change it.
func (p *Pages) summary(ctx context.Context, chosen period) (*activity.Summary, error) {
	c := &p.summaries
	stamp := stampOf(p.State)
	if s := c.get(stamp, chosen.Value); s != nil {
		return s, nil
	}
	return c.reading.Do(ctx, chosen.Value+" "+stamp, func(context.Context) (*activity.Summary, error) {
		s, err := activity.Read(eventlog.Log{Dir: p.State}, chosen.since(time.Now()))
		if err != nil {
			return nil, err
		}
		conf, err := p.Machine.Config()
		if err != nil {
			conf = config.Default() // the settings page shows why
		}
		if err := s.Advise(&conf); err != nil {
			return nil, err
		}
		c.put(stamp, chosen.Value, s)
		return s, nil
	})
}

// get returns the summary of a period, or nil.
func (c *summaryCache) get(stamp, period string) *activity.Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stamp != stamp || time.Since(c.at) > summaryAge {
		c.stamp, c.at, c.byAge = stamp, time.Now(), map[string]*activity.Summary{}
	}
	return c.byAge[period]
}

// put keeps the summary of a period, unless the log has changed.
func (c *summaryCache) put(stamp, period string, s *activity.Summary) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stamp == stamp {
		c.byAge[period] = s
	}
}

// stampOf changes when the event log or the examples in a folder change.
func stampOf(dir string) string {
	stamp := ""
	for _, path := range append((eventlog.Log{Dir: dir}).Paths(), (activity.Labels{Dir: dir}).Path()) {
		st, err := os.Stat(path)
		if err == nil {
			stamp += fmt.Sprintf("%s %d %d\n", filepath.Base(path), st.Size(), st.ModTime().UnixNano())
		}
	}
	return stamp
}

// An activityView is the data of activity.html.
type activityView struct {
	*activity.Summary
	From, To string

	Periods   []period
	Period    string
	Database  string // filter of the events; "": all
	Names     []string
	LogOff    bool
	NoQuery   bool   // queries are not logged
	Labels    int    // number of examples
	Command   string // that measures them
	EventRows []eventView
	More      bool // there are older ones
	Older     bool // there are events that the page only counts
}

// An eventView is an event on the page.
type eventView struct {
	*activity.Entry
	ID, What  string
	Happened  string
	Offered   []offer
	CanLabel  bool
	IsLabeled bool
}

// An offer is a database in an event.
type offer struct {
	Name       string
	Confidence string // "" if it was not searched
}

func (p *Pages) activityPage(r *http.Request) (*content, error) {
	q := r.URL.Query()
	chosen := periodOf(q.Get("period"))
	s, err := p.summary(r.Context(), chosen)
	if err != nil {
		return nil, err
	}
	labels := activity.Labels{Dir: p.State}
	marked, err := labels.Read()
	if err != nil {
		return nil, err
	}
	v := activityView{
		Summary: s,
		Periods: periods[:], Period: chosen.Value, Database: q.Get("database"),
		Names: slices.Sorted(maps.Keys(s.Databases)), Labels: len(marked), Command: evalCommand(labels),
	}
	if s.Events > 0 {
		v.From, v.To = s.First.Local().Format(time.DateOnly), s.Last.Local().Format(time.DateOnly)
	}
	if c, err := p.Machine.Config(); err == nil {
		v.LogOff, v.NoQuery = !c.Hook.Log, !c.Hook.LogQueries
	}
	for _, e := range s.Recent {
		if v.Database != "" && !slices.Contains(e.Databases, v.Database) {
			continue
		}
		if len(v.EventRows) == recentShown {
			v.More = true
			break
		}
		v.EventRows = append(v.EventRows, newEventView(e, marked))
	}
	v.Older = !v.More && s.Events > len(s.Recent)
	return &content{web.Page{Title: "Activity"}, "activity.html", &v}, nil
}

// UnmatchedList returns the groups of searches that match no database.
func (v *activityView) UnmatchedList() activity.UnansweredList {
	return activity.UnansweredList{Groups: v.Unmatched, Alone: v.Alone}
}

func newEventView(e *activity.Entry, marked []activity.Label) eventView {
	v := eventView{Entry: e, ID: e.ID(), What: e.Tool, Happened: e.Words(time.Now())}
	if e.Name != "PreToolUse" {
		v.What = e.Name
	}
	_, v.CanLabel = activity.Verdict(e)
	v.IsLabeled = v.CanLabel && slices.ContainsFunc(marked, func(l activity.Label) bool { return l.ID == v.ID })
	for i, name := range e.Databases {
		o := offer{Name: name}
		if i < len(e.Confidence) && e.Confidence[i] > 0 {
			o.Confidence = fmt.Sprintf("%.2f", e.Confidence[i])
		}
		v.Offered = append(v.Offered, o)
	}
	return v
}

// label marks the decision of an event as wrong, or takes that back.
func (p *Pages) label(w http.ResponseWriter, r *http.Request) {
	form, ok := p.form(w, r, "/activity")
	if !ok {
		return
	}
	labels, id := activity.Labels{Dir: p.State}, form.Get("id")
	s, err := p.summary(r.Context(), periodOf("all"))
	if err == nil {
		e := s.Entry(id)
		switch {
		case form.Get("wrong") != "1":
			err = labels.Remove(id)
		case e == nil:
			p.fail(w, r, "/activity", http.StatusNotFound, errors.New("this event is no longer in the event log"))
			return
		default:
			err = labels.Add(e)
		}
	}
	if err != nil {
		p.fail(w, r, "/activity", http.StatusInternalServerError, fmt.Errorf("cannot keep the example: %w", err))
		return
	}
	back := url.Values{}
	for _, key := range []string{"period", "database"} {
		if value := form.Get(key); value != "" {
			back.Set(key, value)
		}
	}
	p.site.Redirect(w, r, "/activity?"+back.Encode()+"#e"+url.PathEscape(id))
}

// evalCommand returns the command that measures the decisions marked as wrong.
func evalCommand(l activity.Labels) string {
	return "docsearch eval --queries " + humanize.Argument(l.Path())
}
