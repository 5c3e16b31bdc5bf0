// Package explain explains what the hook does with a web search, and what it adds to a
// session with another event.
package explain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/rules/shell"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Outcomes of an event.
const (
	WouldAnswer     = string(eventlog.Answered)
	WouldRedirect   = string(eventlog.Redirected)
	WouldDeny       = string(eventlog.Denied)
	WouldAsk        = string(eventlog.Prompted)
	WouldAddContext = string(eventlog.Context)
)

// OutcomeOf returns the outcome of a decision, or "" if the agent would not
// notice it.
func OutcomeOf(d *hook.Decision, e *event.Event) string {
	switch o := string(d.Outcome(e)); o {
	case WouldAnswer, WouldRedirect, WouldDeny, WouldAsk, WouldAddContext:
		return o
	}
	return ""
}

// Search is the JSON output of why.
type Search struct {
	Query     string     `json:"query"`
	Databases []Database `json:"databases"`
	Rule      string     `json:"rule,omitempty"`
	Outcome   string     `json:"outcome"`
	Offered   []string   `json:"offered"`
	Faults    []string   `json:"faults,omitempty"`
}

// A Database is how the hook considers a database.
type Database struct {
	Name       string  `json:"name"`
	Server     string  `json:"server,omitempty"` // URL of the server that the hook asks
	Matches    bool    `json:"matches"`
	Keyword    string  `json:"keyword,omitempty"` // contained in the query
	Defines    string  `json:"defines,omitempty"` // name that only this database defines, in a query without a keyword
	Mode       string  `json:"mode"`
	Confidence float64 `json:"confidence"`
	Threshold  float64 `json:"threshold"`
	Enough     bool    `json:"enough"`
	Unmet      string  `json:"unmet,omitempty"`       // see quicksearch.Answer
	AdviceOnly string  `json:"advice_only,omitempty"` // see quicksearch.Answer
	Hits       []Hit   `json:"hits,omitempty"`
	Problem    string  `json:"problem,omitempty"`
}

// A Hit is one of the best passages.
type Hit struct {
	Score   float64 `json:"score"`
	Heading string  `json:"heading"`
	Source  string  `json:"source"`
}

const whyHits = 3

// Explain explains what the hook would do with a web search in the working
// directory. It also returns the decision, and the messages of the config.
func Explain(query string) (out *Search, d hook.Decision, messages []string, err error) {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return nil, d, nil, err
	}
	if err := remote.AddTo(&r.Config, l); err != nil {
		messages = append(messages, fmt.Sprintf("cannot read the list of a server's databases: %v", err))
	}
	r.Config.AddClustered()
	indexes := lookup.Indexes{Locations: l}
	indexes.Remote = remote.NewHook(&r.Config, l,
		time.Now().Add(time.Duration(r.Config.Hook.TimeoutMS)*time.Millisecond))
	r.Config.Names = lookup.DefinedNames(r.Config.Databases)
	cwd, err := os.Getwd()
	if err != nil {
		return nil, d, nil, err
	}
	r.Config.Project = config.ProjectAt(l, os.Getenv, cwd)
	r.Config.AddProject(cwd)
	routes := load.LoadRoutes(r, config.PlaceOf(l, os.Getenv, cwd))
	data, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]string{"query": query}})
	if err != nil {
		return nil, d, nil, err
	}
	event, err := event.Parse(data)
	if err != nil {
		return nil, d, nil, err
	}
	d = hook.Decide(event, &r.Config, r.Config.Server(os.Getenv), hook.State{}, time.Now(), indexes, hook.Routes{
		Rules:    func(func(*config.Rule) bool) ([]config.Rule, error) { return routes.Rules, nil },
		Commands: shell.Commands,
	})
	out = &Search{Query: query, Databases: []Database{}, Outcome: OutcomeOf(&d, &event),
		Offered: append([]string{}, d.Offered...), Faults: d.Faults}
	if d.Rule != nil {
		out.Rule = d.Rule.Name
	}
	defining, name := match.Defining(query, &r.Config)
	for i := range r.Config.Databases {
		db := &r.Config.Databases[i]
		w := explainDatabase(query, db, slices.Contains(d.Matched, db.Name), indexes)
		if db == defining && w.Matches {
			w.Defines = name
		}
		out.Databases = append(out.Databases, w)
	}
	return out, d, append(r.Messages(), messages...), nil
}

// explainDatabase searches one database, even if the query does not match it: a
// confident result shows that a keyword is missing.
func explainDatabase(query string, db *config.Database, matches bool, indexes lookup.Indexes) Database {
	w := Database{Name: db.Name, Server: db.Remote, Matches: matches, Mode: string(cmp.Or(db.Mode, config.ModeAnswer))}
	w.Keyword, _ = match.Keyword(match.Fold(query), db.Keywords)
	if db.Remote != "" {
		w.explainRemote(query, db, indexes)
		return w
	}
	found, threshold, err := quickSearch(query, db)
	if err != nil {
		w.Problem = err.Error()
		if errors.Is(err, generation.ErrNoIndex) && db.Mode == "" {
			w.Mode = string(config.ModeRedirect)
		}
		return w
	}
	w.Confidence, w.Enough, w.Threshold = found.Confidence, found.Confident, threshold
	w.Unmet, w.AdviceOnly = found.Unmet, found.AdviceOnly
	for _, h := range found.Hits {
		w.Hits = append(w.Hits, Hit{h.Score, safetext.Printable(h.Passage.HeadingPath()), h.Locator()})
	}
	return w
}

// explainRemote adds the answer of a server's database, as the hook got it. A server is not
// asked about a query that does not match.
func (w *Database) explainRemote(query string, db *config.Database, indexes lookup.Indexes) {
	if !w.Matches {
		return
	}
	found, err := indexes.Search(db, event.Search{Query: query})
	if err != nil {
		w.Problem = err.Error()
		return
	}
	w.Confidence, w.Enough = found.Confidence, found.Confident
	for _, p := range found.Passages[:min(len(found.Passages), whyHits)] {
		w.Hits = append(w.Hits, Hit{Heading: safetext.Printable(p.HeadingPath()), Source: p.Locator()})
	}
}

// quickSearch searches a database as the hook does, and returns its confidence
// threshold.
func quickSearch(query string, db *config.Database) (found quicksearch.Answer, threshold float64, err error) {
	folder := hook.Folder(db.Path)
	g, err := generation.Current(folder)
	if err != nil {
		return found, 0, err
	}
	x, err := quicksearch.Open(folder)
	if err != nil {
		return found, 0, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	found, err = x.Search(quicksearch.Query{Text: query, Names: db.QueryNames(),
		Named: match.Limited(event.Search{Query: query}), Version: db.Version, Limit: whyHits, Threshold: db.Threshold})
	return found, max(quicksearch.Usable(g.Confidence).Threshold, db.Threshold), err
}

// ConfidenceStep returns the step that judges the best passage, or "" if there is none.
func (w *Database) ConfidenceStep() string {
	if w.Server != "" && w.Matches && w.Problem == "" {
		return w.serverAnswer()
	}
	if w.Problem != "" || len(w.Hits) == 0 {
		return ""
	}
	answers := "does not answer"
	switch {
	case w.Enough:
		answers = "answers"
	case w.AdviceOnly != "":
		answers = fmt.Sprintf("the hook only advises (%s)", safetext.Printable(w.AdviceOnly))
	case w.Unmet != "":
		answers = fmt.Sprintf("does not answer, because no heading of the best passages is about %s",
			safetext.Printable(w.Unmet))
	}
	return fmt.Sprintf("best passage: confidence %.2f (threshold %.2f) - %s", w.Confidence, w.Threshold, answers)
}

// serverAnswer describes the answer of a server's database. The server applies the
// threshold, and sends passages only with an answer.
func (w *Database) serverAnswer() string {
	switch {
	case !w.Matches:
		return fmt.Sprintf("server: %s, not asked", w.Server)
	case w.Problem != "":
		return fmt.Sprintf("server: %s, no answer: %s", w.Server, safetext.Printable(w.Problem))
	case !w.Enough:
		return fmt.Sprintf("server: %s, confidence %.2f - does not answer", w.Server, w.Confidence)
	}
	return fmt.Sprintf("server: %s, confidence %.2f - answers", w.Server, w.Confidence)
}

// Steps describes how the hook considers the database.
func (w *Database) Steps() []string {
	var steps []string
	switch {
	case w.Mode == string(config.ModeOff):
		return []string{"mode: off"}
	case w.Keyword != "":
		steps = append(steps, fmt.Sprintf("keyword: %q", w.Keyword))
	case w.Defines != "":
		steps = append(steps, fmt.Sprintf("name: %q, which no other database defines", w.Defines))
	default:
		steps = append(steps, "keyword: none in the query")
	}
	switch {
	case w.Server != "":
		steps = append(steps, w.serverAnswer())
	case w.Problem != "":
		steps = append(steps, "cannot search: "+w.Problem)
	case len(w.Hits) == 0:
		steps = append(steps, "no results")
	default:
		steps = append(steps, w.ConfidenceStep())
	}
	if w.Matches && w.Mode != string(config.ModeAnswer) {
		steps = append(steps, "mode: "+w.Mode)
	}
	return steps
}

// Describe describes the outcome of the search.
func Describe(out *Search) string {
	names := strings.Join(out.Offered, ", ")
	if out.Rule != "" {
		names = "rule " + out.Rule
	}
	beginnings := map[string]string{
		WouldAnswer:     "denied, with passages from ",
		WouldRedirect:   "denied, with the search call for ",
		WouldDeny:       "denied by ",
		WouldAsk:        "the user is asked, by ",
		WouldAddContext: "runs as usual, with context about ",
	}
	if beginning, ok := beginnings[out.Outcome]; ok {
		return beginning + names
	}
	if len(out.Databases) == 0 {
		return "runs as usual, because the config has no databases; to add one, run docsearch setup NAME"
	}
	if !slices.ContainsFunc(out.Databases, func(w Database) bool { return w.Matches }) {
		return "runs as usual, no database matches"
	}
	return "runs as usual, no database answers it"
}
