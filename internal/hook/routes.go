package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/rules"
)

// Routes are the rules for tool calls, and the functions to evaluate them.
type Routes struct {
	// Rules returns the active rules of the user and of plugins, in evaluation order. It may
	// omit rules for which candidate returns false. Its error wraps ErrNeedsMain if the rules
	// must be loaded first. It is not called for calls that are already decided.
	Rules readRules
	// ProjectRules returns the rules that the session's project adds. It is called after no
	// rule of Rules matched, because reading a project's files can take long or fail.
	ProjectRules readRules
	// Commands parses a line of shell into its commands. If it is nil, a call with a rule
	// that needs it is left to main.
	Commands func(line string) ([]string, error)
	// Debug adds the matched rule to the start of a message.
	Debug bool
}

// ErrNeedsMain reports that the decision needs parts of the program that are not
// initialized yet.
var ErrNeedsMain = errors.New("the decision needs the full program")

// ErrUnavailable is wrapped by the errors of a Searcher for a database of a server that
// does not answer. The call runs as usual, without a message.
var ErrUnavailable = errors.New("the server does not answer")

// postponed reports whether the error of a search is no problem of the database: the full
// program must ask its server, or the server does not answer.
func (d *decider) postponed(db *config.Database, err error) bool {
	switch {
	case errors.Is(err, ErrNeedsMain):
		d.NeedsMain = true
	case errors.Is(err, ErrUnavailable):
		d.trace("database %s skipped: %v", db.Name, err)
	default:
		return false
	}
	return true
}

// maxDebugText limits the part of a call's text in debug output.
const maxDebugText = 200

// applyRules applies the first rule that matches a call that no database has decided: of
// the user's, else of the project's.
func (d *decider) applyRules() {
	m := rules.Matcher{Commands: d.routes.Commands, Trace: d.trace, Fault: d.fault}
	var searches []*rules.Search
	for _, r := range d.event.Requests() {
		e := d.event
		e.Tool, e.Search, e.Fetch = r.Tool, r.Search, r.Fetch
		if call := RouteCall(e); call.Text != "" {
			searches = append(searches, m.Search(call))
		}
	}
	for _, read := range d.routes.readers() {
		for _, s := range searches {
			if d.applyRulesTo(s, read) {
				return
			}
		}
	}
	if len(searches) > 0 && d.routes.Rules != nil {
		d.trace("pass: no rule matches")
	}
}

// readers returns the functions that read rules, in evaluation order.
func (r *Routes) readers() []readRules {
	return slices.DeleteFunc([]readRules{r.Rules, r.ProjectRules}, func(read readRules) bool { return read == nil })
}

type readRules = func(candidate func(*config.Rule) bool) ([]config.Rule, error)

// applyRulesTo applies the first of the rules that matches a call, or one search or page of
// it. It reports whether that settled the rules for the event.
func (d *decider) applyRulesTo(s *rules.Search, read readRules) bool {
	candidates, err := read(rules.Candidate(s.Call))
	switch {
	case errors.Is(err, ErrNeedsMain):
		d.NeedsMain = true
		return true
	case err != nil:
		d.fault("cannot read the rules: %v; the call runs as usual", err)
		return true
	}
	found, err := s.First(candidates)
	switch {
	case err != nil:
		d.NeedsMain = true
	case found == nil:
		return false
	default:
		d.applyRule(found)
	}
	return true
}

// RouteCall returns the event's call as rules match it: the tool and its main argument,
// cut to rules.MaxText bytes.
func RouteCall(e event.Event) rules.Call {
	c := rules.Call{Tool: e.Tool}
	switch e.Tool {
	case event.WebFetch:
		c.Text = e.Fetch.URL
	case event.WebSearch:
		c.Text = e.Search.Query
	case event.Bash:
		c.Text = e.Command.Line
	default:
		if c.Text = e.File.Path; c.Text == "" {
			c.Text = e.Input
		}
	}
	if len(c.Text) > rules.MaxText {
		c.Text = strings.ToValidUTF8(c.Text[:rules.MaxText], "")
	}
	return c
}

// applyRule applies the action of a matching rule.
func (d *decider) applyRule(m *rules.Match) {
	r := m.Rule
	d.trace("rule %s of %s matches %q", r.Name, r.Origin, cut(m.Text, maxDebugText))
	if r.Action == config.ActionPass {
		// No decision, because Allow would skip the client's permission prompt.
		d.trace("pass: the rule allows the call")
		return
	}
	d.Rule = r
	message := cut(sanitize(m.Message()), maxContext)
	if r.Database != "" {
		answered := d.answerFromDatabase(r, message)
		if answered || message == "" {
			return
		}
	}
	if d.routes.Debug {
		message = d.debugHeader(m) + message
	}
	switch r.Action {
	case config.ActionWarn:
		d.trace("pass, with the rule's message")
		d.addContext(message)
	case config.ActionAsk:
		d.trace("ask the user")
		d.Verdict, d.Reason, d.Context = Ask, message, ""
	default:
		d.trace("deny")
		d.Verdict, d.Reason, d.Context = Deny, message, ""
		d.Message = cut(denialTexts.Text("person-rule", "rule", oneLine(r.Name)), maxMessage)
	}
}

func (d *Decision) addContext(s string) {
	if d.Context != "" {
		s = d.Context + "\n" + s
	}
	d.Context = cut(s, maxContext)
}

// debugHeader describes the match of a rule, for users who debug their rules.
func (d *decider) debugHeader(m *rules.Match) string {
	label := "Text"
	switch d.event.Tool {
	case event.WebFetch:
		label = "URL"
	case event.Bash:
		label = "Command"
	case event.WebSearch:
		label = "Query"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tool Routing: %s (%s)\nMatched %s: %s\n", m.Rule.Name, m.Rule.Origin, label,
		oneLineMax(m.Part, maxDebugText))
	if m.Pattern != nil {
		fmt.Fprintf(&b, "Pattern: %s\n", m.Pattern.Text)
	}
	return b.String() + "\n"
}

// answerFromDatabase answers a call from the rule's database and reports whether that
// decided about the call. Without a confident answer, the rule's message applies, or the
// call runs as usual.
func (d *decider) answerFromDatabase(r *config.Rule, message string) bool {
	at := slices.IndexFunc(d.config.Databases, func(db config.Database) bool { return db.Name == r.Database })
	if at < 0 {
		d.fault("rule %s skipped: database %q not found", r.Name, r.Database)
		return false
	}
	db := &d.config.Databases[at]
	if message == "" {
		message = denialTexts.Text("rule")
	}
	attempt := d.attempt(event.Search{Query: routeQuery(d.event)})
	if !d.stateRead {
		d.wantsState = true
		return true
	}
	requests := []event.Request{{Tool: event.WebSearch, Search: attempt.Search}}
	if decided, _ := d.decideRepeat(attempt, requests, message); decided {
		return true
	}
	answer, err := d.search.Search(db, attempt.Search)
	if d.postponed(db, err) {
		return false
	}
	if err != nil {
		d.fault("database %s skipped: %v", db.Name, err)
		return false
	}
	d.setConfidence(db, &answer)
	d.trace("database %s on %q: %d passages, confidence %.2f, confident: %t", db.Name, attempt.Query,
		len(answer.Passages), answer.Confidence, answer.Confident)
	if !answer.Confident || len(answer.Passages) == 0 {
		return false
	}
	o := d.newResult(db, &requests[0])
	o.Answer = answer
	results := []result{o}
	d.Matched, d.Offered, d.Quoted = []string{db.Name}, []string{db.Name}, true
	if r.Action == config.ActionWarn {
		d.addContext(d.adviceLine(results))
		return true
	}
	d.deny(attempt, results, message)
	return true
}

// routeQuery returns the words of a call as a query for the documentation: the path and
// the prompt of a fetch, or the words of a command.
func routeQuery(e event.Event) string {
	text := RouteCall(e).Text
	if e.Tool == event.WebSearch {
		return text
	}
	if e.Tool == event.WebFetch {
		if _, rest, ok := strings.Cut(text, "://"); ok {
			text = rest
		}
		_, path, _ := strings.Cut(text, "/")
		path, fragment, _ := strings.Cut(path, "#")
		path, _, _ = strings.Cut(path, "?")
		for _, ending := range []string{".html", ".htm", ".md", ".php", "/index"} {
			path = strings.TrimSuffix(path, ending)
		}
		text = path + " " + fragment + " " + e.Fetch.Prompt
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" \t\r\n/_=&;|<>()\"'`$", r)
	})
	return cut(strings.Join(words, " "), match.MaxQuery)
}
