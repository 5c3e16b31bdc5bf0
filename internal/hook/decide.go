package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes"
)

// A Searcher asks the indexes of databases.
type Searcher interface {
	// Check reports whether a database has an index that can be used, and the
	// version that it documents. Its error wraps generation.ErrNoIndex where there is
	// none.
	Check(db *config.Database) (version string, err error)
	// Search returns the answer of a database's index to a search. Its errors
	// include those of Check.
	Search(db *config.Database, s event.Search) (Answer, error)
	// Page returns what of the page that is fetched answers the prompt; false
	// if the database does not hold the page. Its errors include those of
	// Check.
	Page(db *config.Database, f event.Fetch) (Answer, bool, error)
	// Present reports whether there is anything at a database's path.
	Present(db *config.Database) bool
	Servers
	Notes
}

// Servers knows the MCP servers that the client is set up with.
type Servers interface {
	// Server looks for the server of a tool, for a session that works in the
	// folder cwd. own reports that it is docsearch's.
	Server(tool, cwd string) (found, own bool)
}

// An Answer is what one database has to say to a query.
type Answer struct {
	Passages   []passage.Passage // best first
	Whole      bool              // they are all of a page, in its order
	Confidence float64           // the probability that the best one answers
	Confident  bool              // whether that is enough
	Version    string            // of what the database documents; "": not known
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
	Verdict   Verdict
	Reason    string       // of any verdict but Pass
	Context   string       // for the agent to read beside it
	Matched   []string     // names of the databases that the call is about
	Offered   []string     // of those that the verdict or the context offers
	Quoted    bool         // with passages of theirs
	Rule      *config.Rule // that matches the call; nil if none does
	Change    Change       // to make to the session's state; a denial stands only if it was made
	NeedsMain bool         // there is no decision yet, see ErrNeedsMain
	Trace     []string
	Faults    []string // what went wrong on the way

	Event   string        // its name
	Update  bool          // the databases may be brought up to date, in the background
	Notes   *notes.Injection  // what of it was not told yet goes into the context, too
	Entries []notes.Entry // that were considered for it
}

// Decide decides about an event whose hook started now. It reads nothing but
// its arguments and what search reads.
func Decide(e event.Event, c *config.Config, server config.Server, s State, now time.Time, search Searcher, routes Routes) Decision {
	d := decider{event: e, config: c, server: server, state: s, stateRead: true, started: now, now: now, search: search, routes: routes}
	d.decide()
	return d.Decision
}

type decider struct {
	event  event.Event
	config *config.Config
	server config.Server
	state  State
	// started is when the hook process started; zero if unknown.
	started    time.Time
	transcript int64 // size of the session's transcript; 0 if unknown or not needed
	now        time.Time
	search     Searcher
	routes     Routes
	Decision

	stateRead  bool  // state is the session's
	wantsState bool  // without it there is no decision
	denial       *denialText // of a denial that databases answer
}

func (d *decider) decide() {
	e := d.event
	d.Event = e.Name
	d.trace("event %s of tool %q in session %q, from %s", e.Name, e.Tool, e.Session, e.Host)
	switch e.Name {
	case event.PreToolUse:
		d.preToolUse()
	case event.SessionStart, event.SubagentStart:
		d.sessionStart()
	case event.PostToolUse, event.PostToolUseFailure:
		d.toolFailure()
	case event.PreCompact:
		d.injectNotes(notes.Injection{Compacting: true})
	case event.PostCompact:
		d.injectNotes(notes.Injection{ContextReset: "compact"})
	case event.SessionEnd:
		d.injectNotes(notes.Injection{SessionEnds: true})
	default:
		d.trace("pass: no action for this event")
	}
}

// preToolUse decides about a call that is to come.
func (d *decider) preToolUse() {
	e := d.event
	switch {
	case e.Tool == event.WebSearch:
		d.webSearch()
	case e.Tool == event.WebFetch:
		d.webFetch()
	case d.server.Reads(e.Tool):
		d.allowOwnTool()
		d.recordConsultation()
	case isDatabaseTool(e.Tool, d.config):
		d.trace("pass: the tool belongs to another server")
		d.recordConsultation()
	default:
		d.trace("not a web call")
	}
	if d.Verdict == Pass {
		d.applyRules()
	}
	if d.Verdict == Pass && !d.NeedsMain && !d.wantsState {
		d.addMatchingNotes()
	}
}

// allowOwnTool lets one of docsearch's own tools run without asking the user, if it is
// known to be docsearch's: its server has the name that docsearch's
// installation gives it, or one under which the client starts docsearch.
func (d *decider) allowOwnTool() {
	if !d.server.Installed(d.event.Tool) {
		if _, own := d.search.Server(d.event.Tool, d.event.Cwd); !own {
			d.trace("pass: the client does not start docsearch under the name of this tool's server")
			return
		}
	}
	d.Verdict, d.Reason = Allow, "docsearch only reads local documentation"
}

func isDatabaseTool(tool string, c *config.Config) bool {
	for _, db := range c.Databases {
		if db.Tool != "" && db.Tool == tool {
			return true
		}
	}
	return false
}

// listsDatabases reports whether a tool names databases only, which is no consultation.
func listsDatabases(tool string) bool {
	return strings.HasSuffix(tool, "__list_databases") || strings.HasSuffix(tool, "__leann_list")
}

// recordConsultation records that the agent searches the local documentation, if that
// counts for a retry.
func (d *decider) recordConsultation() {
	if consultationCounts(d.event, d.config) && d.event.Agent == "" && len(d.state.Denied) > 0 && !listsDatabases(d.event.Tool) {
		d.trace("consultation recorded")
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
		d.fault("pass: the query has %d bytes, the limit is %d", len(s.Query), match.MaxQuery)
		return
	}
	d.trace("query %q, allowed domains %q, blocked domains %q", s.Query, s.Allowed, s.Blocked)
	d.decideWebCall(match.Databases(s, d.config), d.searchDatabase)
}

// decideWebCall decides about a call to the web by what the session remembers of it, or
// else by what the databases offer.
func (d *decider) decideWebCall(dbs []*config.Database, ask func(db *config.Database, unproven bool) (result, bool)) {
	attempt := d.attempt(d.event.Search)
	decided, unproven := d.decideRepeat(attempt, "")
	if decided {
		return
	}
	var offers []result
	for _, db := range dbs {
		d.trace("database %s matches", db.Name)
		d.Matched = append(d.Matched, db.Name)
		if o, ok := ask(db, unproven); ok {
			offers = append(offers, o)
		}
	}
	d.decideByResults(attempt, offers)
	if unproven && d.Verdict != Deny {
		d.permit(attempt)
	}
}

// attempt is the event's call, with the query that it asks a database.
func (d *decider) attempt(query event.Search) Attempt {
	return Attempt{Call{d.event.Agent, query, d.event.Fetch}, d.event.Use, d.started, d.transcript}
}

// decideRepeat decides about a call that the session remembers. A retry without the
// evidence that it needs is not decided, but unproven. rule is the message of
// the rule that asks.
func (d *decider) decideRepeat(a Attempt, rule string) (decided, unproven bool) {
	last, known := d.state.classify(a, d.now)
	switch known {
	case DuplicateOfDenied:
		d.trace("deny: another hook process has denied this call")
		d.deny(a, d.resultsFor(last.Databases), rule)
		d.dropPassages()
		return true, false
	case DuplicateOfPassed:
		d.trace("pass: another hook process has passed this retry")
	case Retry:
		if !d.retryAllowed(last) {
			return false, true
		}
	default:
		return false, false
	}
	d.permit(a)
	return true, false
}

// permit lets a retry run.
func (d *decider) permit(a Attempt) {
	d.Change.Attempt, d.Change.Permit = a, true
}

// deny denies a call with what the databases offer.
func (d *decider) deny(a Attempt, offers []result, rule string) {
	e := d.event
	e.Search = a.Search
	d.denial = &denialText{event: e, results: offers, ruleMessage: rule, needsCall: d.config.Hook.Retry == config.RetryEvidence && d.event.Agent == ""}
	d.Verdict = Deny
	d.Reason, d.Context = d.denial.compose()
	d.Change.Attempt, d.Change.Deny, d.Change.Databases = a, true, d.Offered
}

// dropPassages words a denial that another hook has made already: the agent
// has the passages from that one.
func (d *decider) dropPassages() {
	for i := range d.denial.results {
		d.denial.results[i].Passages = nil
	}
	d.Reason, _ = d.denial.compose()
	d.Context, d.Quoted = "", false
}

// resultsFor are the databases that an earlier denial offered.
func (d *decider) resultsFor(names []string) []result {
	var offers []result
	for i := range d.config.Databases {
		db := &d.config.Databases[i]
		if !slices.Contains(names, db.Name) {
			continue
		}
		o := result{db: db, tool: d.server.ToolOf(db), own: d.server.Serves(db), page: d.event.Fetch.URL}
		if o.own && d.event.Tool == event.WebFetch {
			o.tool = d.server.Read
		}
		d.Matched, d.Offered = append(d.Matched, db.Name), append(d.Offered, db.Name)
		offers = append(offers, o)
	}
	return offers
}

// retryAllowed decides about the retry of a call that was denied.
func (d *decider) retryAllowed(last Denial) bool {
	switch {
	case d.config.Hook.Retry != config.RetryEvidence:
		d.trace("pass: retry of a call that was denied %s ago", d.now.Sub(last.At).Round(time.Millisecond))
	case d.event.Agent != "":
		// A subagent may have no tool to consult anything with.
		d.trace("pass: retry of a denied call by a subagent")
	case !d.state.Consulted.Before(last.At):
		d.trace("pass: retry after a consultation of the local documentation")
	default:
		d.trace("retry without a consultation of the local documentation")
		return false
	}
	return true
}

// An offer is a database that has something to say to a call.
type result struct {
	db     *config.Database
	tool   string
	own    bool   // the tool is docsearch's
	adviceOnly bool   // the call is not to be denied for it
	page   string // the fetched page, as the database names it
	Answer
}

// version is that of what the database documents: the configured one, or else
// the one that the build found.
func (o *result) version() string {
	if o.db.Version != "" {
		return o.db.Version
	}
	return o.Version
}

// result asks one matching database; false if the search is none of its
// business after all. With unproven set, a database that is known to hold
// nothing on the query has no say.
func (d *decider) searchDatabase(db *config.Database, unproven bool) (result, bool) {
	o := result{db: db, tool: d.server.ToolOf(db), own: d.server.Serves(db)}
	mode := db.Mode
	var answer Answer
	var err error
	switch {
	case mode == "" || mode == config.ModeAnswer || mode == config.ModeRedirect && unproven:
		answer, err = d.search.Search(db, d.event.Search)
	case o.own:
		answer.Version, err = d.search.Check(db)
	}
	missing := errors.Is(err, generation.ErrNoIndex)
	switch {
	case err == nil && mode == "":
		mode = config.ModeAnswer
	case missing && !o.own && mode == "":
		mode = config.ModeRedirect
	case err != nil && (o.own || mode == "" || mode == config.ModeAnswer):
		d.fault("database %s skipped: %v", db.Name, err)
		return o, false
	}
	d.trace("database %s: mode %s, tool %s", db.Name, mode, o.tool)
	if (mode == config.ModeAdvise || mode == config.ModeRedirect) && !d.reachable(db) {
		d.fault("database %s skipped: %s does not exist, and the client has no MCP server for %s", db.Name, db.Path, o.tool)
		return o, false
	}
	switch mode {
	case config.ModeAdvise:
		o.adviceOnly = true
	case config.ModeRedirect:
		o.Version = answer.Version
		return o, !unproven || err != nil || len(answer.Passages) > 0
	default:
		d.trace("database %s: %d passages, confidence %.2f, confident: %t", db.Name, len(answer.Passages), answer.Confidence, answer.Confident)
		o.Answer = answer
		return o, answer.Confident && len(answer.Passages) > 0
	}
	return o, true
}

// reachable reports whether a tool that searches the database is known to
// exist. docsearch's own does if the database has an index; another server's is
// taken to exist if the database does, or if the client has that server.
func (d *decider) reachable(db *config.Database) bool {
	if d.server.Serves(db) || d.search.Present(db) {
		return true
	}
	found, _ := d.search.Server(db.Tool, d.event.Cwd)
	return found
}

// decideByResults makes the decision of what the databases offer.
func (d *decider) decideByResults(a Attempt, offers []result) {
	denies := false
	for _, o := range offers {
		denies = denies || !o.adviceOnly
		d.Offered = append(d.Offered, o.db.Name)
		d.Quoted = d.Quoted || len(o.Passages) > 0
	}
	switch {
	case len(offers) == 0:
		d.trace("pass: no database answers")
	case !denies:
		d.trace("pass, with added context")
		d.Context = adviceText(d.event, offers)
	default:
		d.trace("deny")
		d.deny(a, offers, "")
	}
}

// needsState reports whether the decision depends on the session's state, or
// can change it. Most calls do neither, and spare the disk.
func needsState(e event.Event, c *config.Config, server *config.Server) bool {
	if e.Name != event.PreToolUse {
		return false
	}
	switch e.Tool {
	case event.WebSearch:
		return len(e.Search.Query) <= match.MaxQuery && len(match.Databases(e.Search, c)) > 0
	case event.WebFetch:
		return len(e.Fetch.Prompt) <= match.MaxQuery && len(databasesOfURL(e.Fetch, c.Databases)) > 0
	}
	return consultationCounts(e, c) && (server.Reads(e.Tool) || isDatabaseTool(e.Tool, c))
}

// consultationCounts reports whether a retry needs a consultation of the local
// documentation, or is recognized by one since tool uses have no ids.
func consultationCounts(e event.Event, c *config.Config) bool {
	return c.Hook.Retry == config.RetryEvidence || e.Use == ""
}

func (d *decider) trace(format string, args ...any) {
	d.Trace = append(d.Trace, fmt.Sprintf(format, args...))
}

func (d *Decision) fault(format string, args ...any) {
	d.Faults = append(d.Faults, fmt.Sprintf(format, args...))
}
