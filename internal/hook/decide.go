package hook

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/inject"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// A Searcher asks the indexes of databases.
type Searcher interface {
	// Check reports whether a database has an index that can be used. Its
	// error wraps disk.ErrNoIndex where there is none.
	Check(db *config.Database) error
	// Search returns what the index of a database has to say to a query. Its
	// errors include those of Check.
	Search(db *config.Database, query string) (Answer, error)
	// Page returns what of the page that is fetched answers the prompt; false
	// if the database does not hold the page. Its errors include those of
	// Check.
	Page(db *config.Database, f event.Fetch) (Answer, bool, error)
	Notes
}

// An Answer is what one database has to say to a query.
type Answer struct {
	Passages   []passage.Passage // best first
	Whole      bool              // they are all of a page, in its order
	Confidence float64           // the probability that the best one answers
	Confident  bool              // whether that is enough
}

// A Verdict is what becomes of the tool call.
type Verdict string

const (
	Pass  Verdict = ""      // as if there were no hook
	Deny  Verdict = "deny"  // it does not run
	Allow Verdict = "allow" // it runs without the user being asked
	Ask   Verdict = "ask"   // the user decides
)

// A Decision is the hook's answer to an event.
type Decision struct {
	Verdict Verdict
	Reason  string       // of any verdict but Pass
	Context string       // for the agent to read beside it
	Matched []string     // names of the databases that the call is about
	Offered []string     // of those that the verdict or the context offers
	Quoted  bool         // with passages of theirs
	Rule    *config.Rule // that matches the call; nil if none does
	Change  Change       // to make to the session's state; a denial stands only if it was made
	Later   bool         // there is no decision yet, see ErrLater
	Trace   []string
	Faults  []string // what went wrong on the way

	Event   string         // its name
	Update  bool           // the databases may be brought up to date, in the background
	Notes   *inject.Offer  // what of it was not told yet goes into the context, too
	Entries []inject.Entry // that were considered for it
}

// Decide decides about an event. It reads nothing but its arguments and what
// search reads.
func Decide(e event.Event, c *config.Config, server config.Server, s State, now time.Time, search Searcher, routes Routes) Decision {
	d := decider{event: e, config: c, server: server, state: s, stateRead: true, now: now, search: search, routes: routes}
	d.decide()
	return d.Decision
}

type decider struct {
	event  event.Event
	config *config.Config
	server config.Server
	state  State
	now    time.Time
	search Searcher
	routes Routes
	Decision

	stateRead  bool // state is the session's
	wantsState bool // without it there is no decision
}

func (d *decider) decide() {
	e := d.event
	d.Event = e.Name
	d.trace("event %s of tool %q in session %q, from %s", e.Name, e.Tool, e.Session, e.Host)
	switch e.Name {
	case event.PreToolUse:
		d.call()
	case event.SessionStart, event.SubagentStart:
		d.beginning()
	case event.PostToolUse, event.PostToolUseFailure:
		d.remedy()
	case event.PreCompact:
		d.offerNotes(inject.Offer{Compacting: true})
	case event.PostCompact:
		d.offerNotes(inject.Offer{Begins: "compact"})
	case event.SessionEnd:
		d.offerNotes(inject.Offer{Ends: true})
	default:
		d.trace("pass: the event asks for nothing")
	}
}

// call decides about a call that is to come.
func (d *decider) call() {
	e := d.event
	switch {
	case e.Tool == event.WebSearch:
		d.webSearch()
	case e.Tool == event.WebFetch:
		d.webFetch()
	case d.server.Reads(e.Tool):
		d.Verdict = Allow
		d.Reason = "docsearch only reads the documentation on this machine"
		d.consulted()
	case isDatabaseTool(e.Tool, d.config):
		d.trace("pass: the tool is another server's")
		d.consulted()
	default:
		d.trace("no call to the web")
	}
	if d.Verdict == Pass {
		d.route()
	}
	if d.Verdict == Pass && !d.Later && !d.wantsState {
		d.accompany()
	}
}

func isDatabaseTool(tool string, c *config.Config) bool {
	for _, db := range c.Databases {
		if db.Tool != "" && db.Tool == tool {
			return true
		}
	}
	return false
}

// lists reports whether a tool names databases only, which is no consultation.
func lists(tool string) bool {
	return strings.HasSuffix(tool, "__list_databases") || strings.HasSuffix(tool, "__leann_list")
}

// consulted notes that the agent is looking into the local documentation, if
// that will ever be asked.
func (d *decider) consulted() {
	if d.config.Hook.Retry == config.RetryEvidence && !d.state.empty() && !lists(d.event.Tool) {
		d.trace("the local documentation is consulted")
		d.Change.Consult = true
	}
}

func (d *decider) webSearch() {
	s := d.event.Search
	switch {
	case strings.TrimSpace(s.Query) == "":
		d.trace("pass: no query")
		return
	case len(s.Query) > match.MaxQuery:
		d.fault("pass: the query has %d bytes, the longest that is looked at %d", len(s.Query), match.MaxQuery)
		return
	}
	d.trace("query %q, allowed domains %q, blocked domains %q", s.Query, s.Allowed, s.Blocked)
	d.ask(match.Databases(s, d.config.Databases), d.offer)
}

// ask makes the decision of what the databases have to say to a call.
func (d *decider) ask(dbs []*config.Database, ask func(db *config.Database, unproven bool) (offer, bool)) {
	call := Call{d.event.Search, d.event.Fetch}
	unproven := false
	if last, ok := d.state.denial(call, d.now); ok {
		if d.passes(last) {
			d.Change.Permit = &call
			return
		}
		unproven = true
	}
	var offers []offer
	for _, db := range dbs {
		d.trace("database %s matches", db.Name)
		d.Matched = append(d.Matched, db.Name)
		if o, ok := ask(db, unproven); ok {
			offers = append(offers, o)
		}
	}
	d.answer(offers)
	switch {
	case d.Verdict == Deny:
		d.Change.Deny = &call
	case unproven:
		d.Change.Permit = &call
	}
}

// passes decides about the repetition of a call that was denied.
func (d *decider) passes(last Denial) bool {
	switch {
	case d.config.Hook.Retry != config.RetryEvidence:
		d.trace("pass: the call was denied %s ago and is repeated", d.now.Sub(last.At).Round(time.Millisecond))
	case d.event.Agent != "":
		// A subagent may have no tool to consult anything with.
		d.trace("pass: a subagent repeats a call that was denied")
	case !d.state.Consulted.Before(last.At):
		d.trace("pass: the local documentation was consulted since the call was denied")
	default:
		d.trace("the call is repeated, but the local documentation was not consulted since")
		return false
	}
	return true
}

// An offer is a database that has something to say to a call.
type offer struct {
	db     *config.Database
	tool   string
	own    bool   // the tool is docsearch's
	advice bool   // the call is not to be denied for it
	page   string // the fetched page, as the database names it
	Answer
}

// offer asks one matching database; false if the search is none of its
// business after all. With unproven set, a database that is known to hold
// nothing on the query has no say.
func (d *decider) offer(db *config.Database, unproven bool) (offer, bool) {
	o := offer{db: db, tool: d.server.ToolOf(db), own: d.server.Serves(db)}
	mode := db.Mode
	var answer Answer
	var err error
	switch {
	case mode == "" || mode == config.ModeAnswer || mode == config.ModeRedirect && unproven:
		answer, err = d.search.Search(db, d.event.Search.Query)
	case o.own:
		err = d.search.Check(db)
	}
	missing := errors.Is(err, disk.ErrNoIndex)
	switch {
	case err == nil && mode == "":
		mode = config.ModeAnswer
	case missing && !o.own && mode == "":
		mode = config.ModeRedirect
	case err != nil && (o.own || mode == "" || mode == config.ModeAnswer):
		d.fault("database %s is left out: %v", db.Name, err)
		return o, false
	}
	d.trace("database %s: mode %s, tool %s", db.Name, mode, o.tool)
	switch mode {
	case config.ModeAdvise:
		o.advice = true
	case config.ModeRedirect:
		return o, !unproven || err != nil || len(answer.Passages) > 0
	default:
		d.trace("database %s: %d passages, confidence %.2f, enough: %t", db.Name, len(answer.Passages), answer.Confidence, answer.Confident)
		o.Answer = answer
		return o, answer.Confident && len(answer.Passages) > 0
	}
	return o, true
}

// answer makes the decision of what the databases offer.
func (d *decider) answer(offers []offer) {
	denies := false
	for _, o := range offers {
		denies = denies || !o.advice
		d.Offered = append(d.Offered, o.db.Name)
		d.Quoted = d.Quoted || len(o.Passages) > 0
	}
	switch {
	case len(offers) == 0:
		d.trace("pass: no database answers")
		return
	case !denies:
		d.trace("pass, with advice")
		d.Context = adviceText(d.event, offers)
		return
	}
	d.trace("deny")
	t := text{event: d.event, offers: offers, evidence: d.config.Hook.Retry == config.RetryEvidence && d.event.Agent == ""}
	d.Verdict, d.Reason, d.Context = Deny, t.reason(), t.context()
}

// needsState reports whether the decision depends on the session's state, or
// can change it. Most calls do neither, and spare the disk.
func needsState(e event.Event, c *config.Config, server *config.Server) bool {
	if e.Name != event.PreToolUse {
		return false
	}
	switch e.Tool {
	case event.WebSearch:
		return len(e.Search.Query) <= match.MaxQuery && len(match.Databases(e.Search, c.Databases)) > 0
	case event.WebFetch:
		return len(e.Fetch.Prompt) <= match.MaxQuery && len(holding(e.Fetch, c.Databases)) > 0
	}
	return c.Hook.Retry == config.RetryEvidence && (server.Reads(e.Tool) || isDatabaseTool(e.Tool, c))
}

func (d *decider) trace(format string, args ...any) {
	d.Trace = append(d.Trace, fmt.Sprintf(format, args...))
}

func (d *Decision) fault(format string, args ...any) {
	d.Faults = append(d.Faults, fmt.Sprintf(format, args...))
}
