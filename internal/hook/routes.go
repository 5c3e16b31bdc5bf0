package hook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/rules"
)

// Routes are the rules over tool calls, and what it takes to try them.
type Routes struct {
	// Rules are those in force where the session works, in their order; those
	// of no concern may be left out. Its error wraps ErrNeedsMain if the rules
	// would have to be read first. It is not asked for calls that something
	// else decides.
	Rules func(concerns func(*config.Rule) bool) ([]config.Rule, error)
	// Commands cuts a line of shell into its commands. Without it, a call that
	// a rule needs them for is left for later, too.
	Commands func(line string) ([]string, error)
	// Debug has a message begin with the rule it is of.
	Debug bool
}

// ErrNeedsMain says that to decide takes parts of the program that are not
// initialised yet.
var ErrNeedsMain = errors.New("the decision needs the full program")

// maxDebugText is how much of a call's text is shown to whoever debugs a rule.
const maxDebugText = 200

// applyRules decides by the rules about a call that is let through so far.
func (d *decider) applyRules() {
	if d.routes.Rules == nil {
		return
	}
	call := RouteCall(d.event)
	if call.Text == "" {
		return
	}
	candidates, err := d.routes.Rules(rules.Candidate(call))
	switch {
	case errors.Is(err, ErrNeedsMain):
		d.NeedsMain = true
		return
	case err != nil:
		d.fault("cannot read the rules: %v; the call runs as usual", err)
		return
	}
	m := rules.Matcher{Commands: d.routes.Commands, Trace: d.trace, Fault: d.fault}
	found, err := m.First(candidates, call)
	switch {
	case err != nil:
		d.NeedsMain = true
	case found == nil:
		d.trace("pass: no rule matches")
	default:
		d.applyRule(found)
	}
}

// RouteCall is the event's call as rules see it: of a text that is longer than
// any that a person would write, its beginning.
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

// applyRule does what a rule says.
func (d *decider) applyRule(m *rules.Match) {
	r := m.Rule
	d.trace("rule %s of %s matches %q", r.Name, r.Origin, cut(m.Text, maxDebugText))
	d.Rule = r
	message := cut(clean(m.Message()), maxContext)
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
	}
}

func (d *Decision) addContext(s string) {
	if d.Context != "" {
		s = d.Context + "\n" + s
	}
	d.Context = cut(s, maxContext)
}

// debugHeader is what whoever debugs a rule sees before its message.
func (d *decider) debugHeader(m *rules.Match) string {
	what := "Text"
	switch d.event.Tool {
	case event.WebFetch:
		what = "URL"
	case event.Bash:
		what = "Command"
	case event.WebSearch:
		what = "Query"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tool Routing: %s (%s)\nMatched %s: %s\n", m.Rule.Name, m.Rule.Origin, what, oneLineOf(m.Part, maxDebugText))
	if m.Pattern != nil {
		fmt.Fprintf(&b, "Pattern: %s\n", m.Pattern.Text)
	}
	return b.String() + "\n"
}

// answerFromDatabase answers a call from the database that a rule names, and
// reports whether that decided about it. What it does not answer confidently
// is left to the rule's message, or goes through.
func (d *decider) answerFromDatabase(r *config.Rule, message string) bool {
	var db *config.Database
	for i := range d.config.Databases {
		if d.config.Databases[i].Name == r.Database {
			db = &d.config.Databases[i]
		}
	}
	if db == nil {
		d.fault("rule %s skipped: database %q not found", r.Name, r.Database)
		return false
	}
	if message == "" {
		message = "Local documentation answers this call."
	}
	attempt := d.attempt(event.Search{Query: routeQuery(d.event)})
	if !d.stateRead {
		d.wantsState = true
		return true
	}
	if decided, _ := d.decideRepeat(attempt, message); decided {
		return true
	}
	answer, err := d.search.Search(db, attempt.Search)
	if err != nil {
		d.fault("database %s skipped: %v", db.Name, err)
		return false
	}
	d.trace("database %s on %q: %d passages, confidence %.2f, confident: %t", db.Name, attempt.Query, len(answer.Passages), answer.Confidence, answer.Confident)
	if !answer.Confident || len(answer.Passages) == 0 {
		return false
	}
	offers := []result{{db: db, tool: d.server.ToolOf(db), own: d.server.Serves(db), Answer: answer}}
	d.Matched, d.Offered, d.Quoted = []string{db.Name}, []string{db.Name}, true
	if r.Action == config.ActionWarn {
		e := d.event
		e.Search = attempt.Search
		d.addContext(adviceText(e, offers))
		return true
	}
	d.deny(attempt, offers, message)
	return true
}

// routeQuery is what a call asks of documentation, in words: those of an
// address's path and of what the page is read for, or those of a command.
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
