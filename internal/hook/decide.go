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

// A Searcher searches the indexes of databases.
type Searcher interface {
	// Check returns an error unless the database has a usable index, and the version that
	// it documents. The error wraps generation.ErrNoIndex if the database has no index.
	Check(db *config.Database) (version string, err error)
	// Search searches the index of a database. Its errors include those of Check.
	Search(db *config.Database, s event.Search) (Answer, error)
	// Page returns the parts of the fetched page that answer the prompt, or false if the
	// database does not contain the page. Its errors include those of Check.
	Page(db *config.Database, f event.Fetch) (Answer, bool, error)
	// Present reports whether the database's path exists.
	Present(db *config.Database) bool
	Servers
	Notes
}

// Servers finds the MCP servers that the client is configured with.
type Servers interface {
	// Server reports whether the client has the MCP server of a tool in a session that
	// works in the folder cwd, and whether that server is docsearch's own.
	Server(tool, cwd string) (found, own bool)
}

// An Answer is the result of one database for a query.
type Answer struct {
	Passages   []passage.Passage // best first
	Whole      bool              // Passages are the whole page, in page order
	Confidence float64           // probability that the best passage answers the query
	Confident  bool              // Confidence reaches the database's threshold
	Version    string            // of the documented software; "" if unknown
}

// A Verdict is the hook's ruling on a tool call.
type Verdict string

const (
	Pass  Verdict = ""      // no decision: the call runs as usual
	Deny  Verdict = "deny"  // the call does not run
	Allow Verdict = "allow" // the call runs without a permission prompt
	Ask   Verdict = "ask"   // the client asks the user
)

// A Decision is the hook's answer to an event.
type Decision struct {
	Verdict   Verdict
	Reason    string       // of any verdict except Pass
	Context   string       // additional text for the agent
	Matched   []string     // names of the databases that match the call
	Offered   []string     // names of the databases that the denial or the context refers to
	Quoted    bool         // the denial or the context quotes passages
	Rule      *config.Rule // the rule that matches the call; nil if none does
	Change    Change       // of the session's state; a denial is valid only if the change was recorded
	NeedsMain bool         // no decision yet, see ErrNeedsMain
	Trace     []string
	Faults    []string // errors that did not stop the decision

	Event   string           // name of the event
	Update  bool             // start an update of the databases in the background
	Refresh bool             // update the hook entries in the background
	Notes   *notes.Injection // notes to add to the context, except those the session has seen
	Entries []notes.Entry    // entries that were considered for Notes
}

// Decide decides about an event whose hook started now. It reads only its arguments and
// the files that search reads.
func Decide(e event.Event, c *config.Config, server config.Server, s State, now time.Time, search Searcher, routes Routes) Decision {
	d := decider{event: e, config: c, server: server, state: s, stateRead: true, started: now, now: now, search: search, routes: routes}
	d.decide()
	return d.Decision
}

// A decider holds the inputs and the decision of one event.
type decider struct {
	event      event.Event
	config     *config.Config
	server     config.Server
	state      State
	started    time.Time // of the hook process; zero if unknown
	transcript int64     // size of the session's transcript in bytes; 0 if unknown or not needed
	now        time.Time
	search     Searcher
	routes     Routes
	registered *config.Coverage // what docsearch wrote to the user's settings; nil if unknown
	Decision

	stateRead  bool        // state has been read
	wantsState bool        // the decision depends on the state, which has not been read
	denial     *denialText // of a denial that databases answer; else nil
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
	if e.AnswersOnly && !d.NeedsMain && !(d.Verdict == Deny && d.Quoted) {
		d.trace("pass: the call has no answer, and this run decides nothing else")
		d.Decision = Decision{Event: e.Name, Trace: d.Trace, Faults: d.Faults}
	}
}

// preToolUse decides about a call that is about to run. The rules come last, because a
// call that a database answers is already decided; notes are added only to a call that
// runs.
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

// allowOwnTool allows a call of one of docsearch's tools without a prompt, if its server
// is known to be docsearch's. Such a server has the name that docsearch's installation
// gives it, or the client's settings start docsearch under its name.
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

// listsDatabases reports whether a tool only lists databases, which does not count as a
// consultation.
func listsDatabases(tool string) bool {
	return strings.HasSuffix(tool, "__list_databases") || strings.HasSuffix(tool, "__leann_list")
}

// recordConsultation records that the agent searches the local documentation, if a retry
// depends on that.
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

// decideWebCall decides about a web call by the session's state if the call is a repeat,
// and otherwise by the results of the databases.
func (d *decider) decideWebCall(dbs []*config.Database, search func(db *config.Database, unproven bool) (result, bool)) {
	attempt := d.attempt(d.event.Search)
	decided, unproven := d.decideRepeat(attempt, "")
	if decided {
		return
	}
	var results []result
	for _, db := range dbs {
		d.trace("database %s matches", db.Name)
		d.Matched = append(d.Matched, db.Name)
		if o, ok := search(db, unproven); ok {
			results = append(results, o)
		}
	}
	d.decideByResults(attempt, results)
	if unproven && d.Verdict != Deny {
		d.permitRetry(attempt)
	}
}

// attempt returns the event's call with the query for the database.
func (d *decider) attempt(query event.Search) Attempt {
	return Attempt{Call{d.event.Agent, query, d.event.Fetch}, d.event.Use, d.started, d.transcript}
}

// decideRepeat decides about a call that the session's state contains. A retry that lacks
// the required evidence is not decided; unproven is true then. ruleMessage is the message
// of the rule that asks, if one does.
func (d *decider) decideRepeat(a Attempt, ruleMessage string) (decided, unproven bool) {
	last, kind := d.state.classify(a, d.now)
	switch {
	case kind == DuplicateOfDenied:
		d.trace("deny: another hook process has denied this call")
		d.deny(a, d.resultsFor(last.Databases), ruleMessage)
		d.dropPassages()
	case kind == DuplicateOfPassed:
		d.trace("pass: another hook process has passed this retry")
		d.permitRetry(a)
	case kind == Retry && d.retryAllowed(last):
		d.permitRetry(a)
	default:
		return false, kind == Retry
	}
	return true, false
}

// permitRetry lets a retry run.
func (d *decider) permitRetry(a Attempt) {
	d.Change.Attempt, d.Change.Permit = a, true
}

// deny denies a call with the results of the databases.
func (d *decider) deny(a Attempt, results []result, ruleMessage string) {
	e := d.event
	e.Search = a.Search
	d.denial = &denialText{event: e, results: results, ruleMessage: ruleMessage, needsCall: d.config.Hook.Retry == config.RetryEvidence && d.event.Agent == ""}
	d.Verdict = Deny
	d.Reason, d.Context = d.denial.compose()
	d.Change.Attempt, d.Change.Deny, d.Change.Databases = a, true, d.Offered
}

// dropPassages removes the passages from a denial that another hook has already made: the
// agent has them from that hook.
func (d *decider) dropPassages() {
	for i := range d.denial.results {
		d.denial.results[i].Passages = nil
	}
	d.Reason, _ = d.denial.compose()
	d.Context, d.Quoted = "", false
}

// resultsFor returns results without passages for the databases that an earlier denial
// named.
func (d *decider) resultsFor(names []string) []result {
	var results []result
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
		results = append(results, o)
	}
	return results
}

// retryAllowed reports whether a denied call may run when it is sent again.
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

// A result is the contribution of one database to the decision about a call.
type result struct {
	db         *config.Database
	tool       string
	own        bool   // the tool is docsearch's
	adviceOnly bool   // the database does not justify a denial
	page       string // the fetched page's URL or path in the database
	Answer
}

// version returns the configured version, or else the version that the build detected.
func (o *result) version() string {
	if o.db.Version != "" {
		return o.db.Version
	}
	return o.Version
}

// searchDatabase searches one matching database. It returns false if the database does not
// contribute to the decision. If unproven is set, a database in redirect mode contributes
// only if its index, if it has one, contains passages on the query.
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
		return o, true
	case config.ModeRedirect:
		o.Version = answer.Version
		return o, !unproven || err != nil || len(answer.Passages) > 0
	}
	d.trace("database %s: %d passages, confidence %.2f, confident: %t", db.Name, len(answer.Passages), answer.Confidence, answer.Confident)
	o.Answer = answer
	return o, answer.Confident && len(answer.Passages) > 0
}

// reachable reports whether a tool that searches the database is known to exist.
// docsearch's own tool exists if the database has an index. Another server's tool is
// assumed to exist if the database does, or if the client has that server.
func (d *decider) reachable(db *config.Database) bool {
	if d.server.Serves(db) || d.search.Present(db) {
		return true
	}
	found, _ := d.search.Server(db.Tool, d.event.Cwd)
	return found
}

// decideByResults denies the call if a database answers it, and otherwise adds the advice
// of the databases to the context.
func (d *decider) decideByResults(a Attempt, results []result) {
	denies := false
	for _, o := range results {
		denies = denies || !o.adviceOnly
		d.Offered = append(d.Offered, o.db.Name)
		d.Quoted = d.Quoted || len(o.Passages) > 0
	}
	switch {
	case len(results) == 0:
		d.trace("pass: no database answers")
	case !denies:
		d.trace("pass, with added context")
		d.Context = adviceLine(d.event, results)
	default:
		d.trace("deny")
		d.deny(a, results, "")
	}
}

// needsState reports whether the decision depends on the session's state or can change it.
// Most calls do neither and avoid the disk access.
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

// consultationCounts reports whether a retry requires a consultation of the local
// documentation, or is recognized by one because tool uses have no IDs.
func consultationCounts(e event.Event, c *config.Config) bool {
	return c.Hook.Retry == config.RetryEvidence || e.Use == ""
}

func (d *decider) trace(format string, args ...any) {
	d.Trace = append(d.Trace, fmt.Sprintf(format, args...))
}

func (d *Decision) fault(format string, args ...any) {
	d.Faults = append(d.Faults, fmt.Sprintf(format, args...))
}
