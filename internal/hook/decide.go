package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
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

// Servers finds the MCP servers that clients are configured with.
type Servers interface {
	// Server reports whether the host has the MCP server of a tool in a session that works
	// in the folder cwd, and whether that server is docsearch's own.
	Server(h event.Host, tool, cwd string) (found, own bool)
	// Opens returns an error if the index of a database on this machine cannot be opened,
	// which Check does not try. Errors: those of Check.
	Opens(db *config.Database) error
	// OwnServer returns the name under which the host is known to have docsearch's server
	// in such a session, or "".
	OwnServer(h event.Host, cwd string) string
	// Withheld reports whether the agent that sends an event lacks a tool of docsearch's
	// server: it has the command line instead, the host's settings deny it the tool, or no
	// server runs. command is the word that runs docsearch in the agent's shell, or "" if it
	// may not run it there.
	Withheld(e *event.Event, tool string) (command string, withheld bool)
}

// An Answer is the result of one database for a query.
type Answer struct {
	Passages   []passage.Passage // best first
	Whole      bool              // Passages are the whole page, in page order
	Confidence float64           // probability that the best passage answers the query
	Confident  bool              // Confidence reaches the database's threshold
	AdviceOnly string            // why a confident answer is only advice, see quicksearch.Answer; else ""
	Version    string            // of the documented software; "" if unknown
	// Weights are those of the query's terms, by which passages are shortened. Without, all
	// words of the query count the same.
	Weights []lexical.TermWeight
}

// A Verdict is the hook's ruling on a tool call.
type Verdict = host.Verdict

const (
	Pass  = host.Pass
	Deny  = host.Deny
	Allow = host.Allow
	Ask   = host.Ask
)

// A Decision is the hook's answer to an event.
type Decision struct {
	Verdict   Verdict
	Reason    string       // of any verdict except Pass
	Context   string       // additional text for the agent
	Message   string       // one line for the person, without the time that the decision took
	Matched   []string     // names of the databases that match the call
	Offered   []string     // names of the databases that the denial or the context refers to
	Page      string       // heading of the best passage of a denial
	Quoted    bool         // the denial or the context quotes passages
	Consults  bool         // the call runs and searches or reads local documentation
	Duplicate bool         // another hook process has decided about this call
	Rule      *config.Rule // the rule that matches the call; nil if none does
	Change    Change       // of the session's state; a denial is valid only if the change was recorded
	NeedsMain bool         // no decision yet, see ErrNeedsMain
	Trace     []string
	Faults    []string // errors that did not stop the decision

	// Confidence is the confidence in the best passage of each database that was searched;
	// nil if none was.
	Confidence map[string]float64

	Event   string           // name of the event
	Update  bool             // start an update of the databases in the background
	Reindex bool             // rebuild indexes of an older format in the background
	Adapt   bool             // start an update of the confidence thresholds in the background
	Refresh bool             // update the hook entries in the background
	Project string           // folder whose project snapshot is missing or outdated; empty: none
	Notes   *notes.Injection // notes to add to the context, except those the session has seen
	Entries []notes.Entry    // entries that were considered for Notes
}

// Decide decides about an event whose hook started now. It reads only its arguments and
// the files that search reads.
func Decide(e event.Event, c *config.Config, server config.Server, s State, now time.Time, search Searcher,
	routes Routes) Decision {
	d := newDecider(e, c, server)
	d.state, d.stateRead, d.started, d.now, d.search, d.routes = s, true, now, now, search, routes
	d.findServer()
	d.decide()
	return d.Decision
}

// newDecider returns a decider for the event. It gives MCP tools the same names for all
// hosts, and decides whether a command failed.
func newDecider(e event.Event, c *config.Config, server config.Server) decider {
	client := host.Of(e.Host)
	e.Tool = client.CommonName(e.Tool, func(name string) bool { return server.Reads(name) || isDatabaseTool(name, c) })
	e.Failure = failureOf(&e)
	return decider{event: e, client: client, config: c, server: server}
}

// reply returns the decision for the host.
func (d *Decision) reply() host.Reply {
	return host.Reply{Verdict: d.Verdict, Reason: d.Reason, Context: d.Context, Message: d.Message}
}

// A decider holds the inputs and the decision of one event.
type decider struct {
	event      event.Event
	client     *host.Client
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

	withheld   map[string]withheldTool // results of withholds, by tool
	stateRead  bool                    // state has been read
	wantsState bool                    // the decision depends on the state, which has not been read
	denial     *denialText             // of a denial that databases answer; else nil
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
	case event.UserPromptSubmit:
		if e.Prompt {
			d.sessionStart()
		}
	case event.PostToolUse, event.PostToolUseFailure:
		if e.Failure == "" {
			d.addMatchingNotes()
		} else {
			d.toolFailure()
		}
	case event.PreCompact:
		d.injectNotes(notes.Injection{Compacting: true})
	case event.PostCompact:
		d.injectNotes(notes.Injection{ContextReset: "compact", OnlyReport: d.client.CompactsOnce})
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
	case e.Tool == event.WebSearch, e.Tool == event.WebFetch:
		d.webCall()
	case d.server.Reads(e.Tool):
		d.allowOwnTool()
	case isDatabaseTool(e.Tool, d.config):
		d.trace("pass: the tool belongs to another server")
	default:
		d.trace("not a web call")
	}
	consults := d.consults()
	if d.NeedsMain {
		return
	}
	if d.Verdict == Pass {
		d.applyRules()
	}
	if d.Verdict != Deny {
		d.Consults = consults
		d.recordConsultation()
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
		if !d.isOwnServer(d.event.Tool) {
			d.trace("pass: the client does not start docsearch under the name of this tool's server")
			return
		}
	}
	d.Verdict, d.Reason = Allow, denialTexts.Text("own-tool")
}

// webCall decides about a web call by the session's state if the call is a repeat, and
// otherwise by the results of the databases.
func (d *decider) webCall() {
	requests := d.event.Requests()
	for i := range requests {
		if !d.answerable(&requests[i]) {
			return
		}
	}
	attempt := d.attempt(d.event.Search)
	decided, unproven := d.decideRepeat(attempt, requests, "")
	if decided {
		return
	}
	d.decideByResults(attempt, d.resultsOf(requests, unproven))
	if unproven && d.Verdict != Deny {
		d.permitRetry(attempt, d.Matched)
	}
}

// answerable reports whether a search or a fetch has a text to search for, of a length
// within the limit.
func (d *decider) answerable(r *event.Request) bool {
	what, text := "query", r.Search.Query
	if r.Tool == event.WebFetch {
		what, text = "prompt", r.Fetch.Prompt
	} else if strings.TrimSpace(text) == "" {
		d.trace("pass: no query")
		return false
	}
	if len(text) > match.MaxQuery {
		d.fault("pass: the %s has %d bytes, the limit is %d", what, len(text), match.MaxQuery)
		return false
	}
	return true
}

// matching returns the databases that a search or a fetch matches.
func matching(r *event.Request, c *config.Config) []*config.Database {
	if r.Tool == event.WebFetch {
		return databasesOfURL(r.Fetch, c.Databases)
	}
	return match.Databases(r.Search, c)
}

// resultsOf returns the results for the searches and pages of a call. If one of them has no
// answer, the call must run, and the answers to the others are dropped.
func (d *decider) resultsOf(requests []event.Request, unproven bool) []result {
	var results []result
	complete := true
	for i := range requests {
		r := &requests[i]
		if r.Tool == event.WebFetch {
			d.trace("page %q, prompt %q", r.Fetch.URL, r.Fetch.Prompt)
		} else {
			d.trace("query %q, allowed domains %q, blocked domains %q", r.Search.Query, r.Search.Allowed,
				r.Search.Blocked)
		}
		answered := false
		for _, db := range matching(r, d.config) {
			d.trace("database %s matches", db.Name)
			d.Matched = appendNew(d.Matched, db.Name)
			if o, ok := d.resultOf(db, r, unproven); ok {
				results = append(results, o)
				answered = answered || !o.adviceOnly
			}
		}
		complete = complete && answered
	}
	if len(requests) > 1 && !complete {
		d.trace("not every search and page of the call has an answer")
		results = slices.DeleteFunc(results, func(o result) bool { return !o.adviceOnly })
	}
	return results
}

// resultOf returns the contribution of a database to a search or a fetch, or false if it
// has none.
func (d *decider) resultOf(db *config.Database, r *event.Request, unproven bool) (result, bool) {
	if r.Tool == event.WebFetch {
		return d.findPage(db, r)
	}
	return d.searchDatabase(db, r, unproven)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// attempt returns the event's call with the query for the database.
func (d *decider) attempt(query event.Search) Attempt {
	return Attempt{Call{d.event.Agent, query, d.event.Fetch}, d.event.Use, d.started, d.transcript}
}

// decideRepeat decides about a call that the session's state contains. A retry that lacks
// the required evidence is not decided; unproven is true then. ruleMessage is the message
// of the rule that asks, if one does.
func (d *decider) decideRepeat(a Attempt, requests []event.Request, ruleMessage string) (decided, unproven bool) {
	last, kind := d.state.classify(a, d.now)
	switch {
	case kind == DuplicateOfDenied:
		d.trace("deny: another hook process has denied this call")
		d.Duplicate = true
		d.deny(a, d.resultsFor(last.Databases, requests), ruleMessage)
		d.dropPassages()
	case kind == DuplicateOfPassed:
		d.trace("pass: another hook process has passed this retry")
		d.Duplicate = true
		d.permitRetry(a, last.Databases)
	case kind == Retry && d.retryAllowed(last):
		d.permitRetry(a, last.Databases)
	default:
		return false, kind == Retry
	}
	return true, false
}

// permitRetry lets the retry of a denial that named databases run.
func (d *decider) permitRetry(a Attempt, databases []string) {
	d.Change.Attempt, d.Change.Permit, d.Change.Databases = a, true, databases
}

// setConfidence records the confidence in the best passage of a database that was searched.
func (d *decider) setConfidence(db *config.Database, a *Answer) {
	if d.Confidence == nil {
		d.Confidence = map[string]float64{}
	}
	d.Confidence[db.Name] = max(d.Confidence[db.Name], a.Confidence)
}

// deny denies a call with the results of the databases.
func (d *decider) deny(a Attempt, results []result, ruleMessage string) {
	withheld := d.withhold(results)
	d.denial = &denialText{event: &d.event, client: d.client, results: results, ruleMessage: ruleMessage, needsCall: d.config.Hook.Retry == config.RetryEvidence && d.canConsult()}
	if d.client.ShowsContext(&d.event) && !withheld && !d.denial.isFetch() && d.denial.bestResult() != nil {
		d.denial.code = shownCode(d.event.Session, &a.Call)
	}
	d.Verdict = Deny
	d.Reason, d.Context = d.denial.compose()
	d.Message = d.denial.message()
	if best := d.denial.bestResult(); best != nil {
		d.Page = heading(&best.Passages[0])
	}
	d.Change.Attempt, d.Change.Deny, d.Change.Databases = a, true, d.Offered
	if d.denial.code != "" {
		d.Change.Code, d.Change.Shown = d.denial.code, d.denial.shown
	}
}

// withhold sets the command line of the results whose tools the agent lacks. It reports whether
// there are such results.
func (d *decider) withhold(results []result) bool {
	any := false
	for i := range results {
		if o := &results[i]; o.own {
			o.command, o.withheld = d.withholds(o.tool)
		}
		any = any || results[i].withheld
	}
	return any
}

// A withheldTool is a result of Searcher.Withheld.
type withheldTool struct {
	command  string
	withheld bool
}

// withholds returns the result of Searcher.Withheld, which reads settings, once for each tool.
func (d *decider) withholds(tool string) (command string, withheld bool) {
	t, known := d.withheld[tool]
	if !known {
		t.command, t.withheld = d.search.Withheld(&d.event, tool)
		if d.withheld == nil {
			d.withheld = map[string]withheldTool{}
		}
		d.withheld[tool] = t
	}
	return t.command, t.withheld
}

// dropPassages removes the passages from a denial that another hook has already made: the
// agent has them from that hook.
func (d *decider) dropPassages() {
	for i := range d.denial.results {
		d.denial.results[i].Passages = nil
	}
	d.Reason, _ = d.denial.compose()
	d.Context, d.Message, d.Quoted = "", "", false // the other hook has said the rest
}

// resultsFor returns results without passages for the databases that an earlier denial
// named.
func (d *decider) resultsFor(names []string, requests []event.Request) []result {
	var results []result
	for i := range requests {
		r := &requests[i]
		for i := range d.config.Databases {
			db := &d.config.Databases[i]
			if !slices.Contains(names, db.Name) || len(requests) > 1 && !slices.Contains(matching(r, d.config), db) {
				continue
			}
			d.Matched, d.Offered = appendNew(d.Matched, db.Name), appendNew(d.Offered, db.Name)
			o := d.newResult(db, r)
			o.page = r.Fetch.URL
			results = append(results, o)
		}
	}
	return results
}

// retryAllowed reports whether a denied call may run when it is sent again.
func (d *decider) retryAllowed(last Denial) bool {
	switch {
	case d.config.Hook.Retry != config.RetryEvidence:
		d.trace("pass: retry of a call that was denied %s ago", d.now.Sub(last.At).Round(time.Millisecond))
	case !d.canConsult():
		d.trace("pass: retry of a denied call by an agent that may have no tool to consult anything with")
	case !d.state.Consulted.Before(last.At):
		d.trace("pass: retry after a consultation of the local documentation")
	default:
		d.trace("retry without a consultation of the local documentation")
		return false
	}
	return true
}

// canConsult reports whether the agent is known to have a call that consults the documentation. A
// subagent may have none.
func (d *decider) canConsult() bool {
	if d.event.Agent != "" {
		return false
	}
	command, withheld := d.withholds(d.server.Search)
	return !withheld || command != ""
}

// A result is the contribution of one database to the decision about a call.
type result struct {
	db         *config.Database
	request    *event.Request // the search or the fetch that it contributes to
	tool       string
	own        bool   // the tool is docsearch's
	withheld   bool   // the agent cannot call the tool
	command    string // word that runs docsearch in its shell instead; "" if it may not run it
	adviceOnly bool   // the database does not justify a denial
	page       string // the fetched page's URL or path in the database
	Answer
}

// newResult returns a result without an answer.
func (d *decider) newResult(db *config.Database, r *event.Request) result {
	server := d.server
	o := result{db: db, request: r, tool: server.ToolOf(db), own: server.Serves(db)}
	if !o.own && d.isOwnServer(db.Tool) {
		name, _ := config.ServerName(db.Tool)
		o.own, server = true, server.Named(name)
	}
	if o.own && r.Tool == event.WebFetch {
		o.tool = server.Read
	}
	return o
}

// isOwnServer reports whether the client starts docsearch as the server of a tool.
func (d *decider) isOwnServer(tool string) bool {
	_, own := d.search.Server(d.event.Host, tool, d.event.Cwd)
	return own
}

// findServer takes over the name that the client gives docsearch's server, if the event's
// tool is that server's.
func (d *decider) findServer() {
	tool := d.event.Tool
	if config.MayOwn(tool) && !d.server.Reads(tool) && d.isOwnServer(tool) {
		name, _ := config.ServerName(tool)
		d.server = d.server.Named(name)
	}
}

// nameServer makes results name the tools as the client does, if its settings have
// docsearch's server under another name than docsearch install uses.
func (d *decider) nameServer(results []result) {
	if !d.server.IsDefault() || !slices.ContainsFunc(results,
		func(o result) bool { return o.own && d.server.Installed(o.tool) }) {
		return
	}
	name := d.search.OwnServer(d.event.Host, d.event.Cwd)
	if name == "" {
		return
	}
	server := d.server.Named(name)
	for i := range results {
		switch results[i].tool {
		case d.server.Search:
			results[i].tool = server.Search
		case d.server.Read:
			results[i].tool = server.Read
		}
	}
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
func (d *decider) searchDatabase(db *config.Database, r *event.Request, unproven bool) (result, bool) {
	o := d.newResult(db, r)
	mode := db.Mode
	var answer Answer
	var err error
	switch {
	case mode == "" || mode == config.ModeAnswer || mode == config.ModeRedirect && unproven:
		if answer, err = d.search.Search(db, r.Search); err == nil {
			d.setConfidence(db, &answer)
		}
	case o.own:
		answer.Version, err = d.search.Check(db)
	}
	missing := errors.Is(err, generation.ErrNoIndex)
	switch {
	case d.postponed(db, err):
		return o, false
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
		d.fault("database %s skipped: %s does not exist, and the client has no MCP server for %s", db.Name, db.Path,
			o.tool)
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
	d.trace("database %s: %d passages, confidence %.2f, confident: %t", db.Name, len(answer.Passages),
		answer.Confidence, answer.Confident)
	if answer.AdviceOnly != "" {
		d.trace("database %s: advice only, %s", db.Name, answer.AdviceOnly)
		o.adviceOnly = true
		return o, true
	}
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
	found, _ := d.search.Server(d.event.Host, db.Tool, d.event.Cwd)
	return found
}

// decideByResults denies the call if a database answers it, and otherwise adds the advice
// of the databases to the context.
func (d *decider) decideByResults(a Attempt, results []result) {
	denies := false
	for _, o := range results {
		denies = denies || !o.adviceOnly
		d.Offered = appendNew(d.Offered, o.db.Name)
		d.Quoted = d.Quoted || len(o.Passages) > 0
	}
	switch {
	case len(results) == 0:
		d.trace("pass: no database answers")
	case !denies:
		d.trace("pass, with added context")
		d.Context = d.adviceLine(results)
	default:
		d.trace("deny")
		d.nameServer(results)
		d.deny(a, results, "")
	}
}

// needsState reports whether the decision depends on the session's state or can change it.
// Most calls do neither and avoid the disk access.
func needsState(e event.Event, c *config.Config, server *config.Server) bool {
	if e.Name != event.PreToolUse {
		return false
	}
	if e.Tool == event.WebSearch || e.Tool == event.WebFetch {
		requests := e.Requests()
		return slices.ContainsFunc(requests, func(r event.Request) bool {
			return len(r.Search.Query)+len(r.Fetch.Prompt) <= match.MaxQuery && len(matching(&r, c)) > 0
		})
	}
	return mayConsult(&e, c, server)
}

func (d *decider) trace(format string, args ...any) {
	d.Trace = append(d.Trace, fmt.Sprintf(format, args...))
}

func (d *Decision) fault(format string, args ...any) {
	d.Faults = append(d.Faults, fmt.Sprintf(format, args...))
}
