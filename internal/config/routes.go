package config

import "strconv"

// A Rule defines the action for the tool calls that it matches.
type Rule struct {
	Name   string
	Origin string // path of its file
	Line   int    // there; 0: unknown

	Tools          []string  // tools it applies to, in any case; if these and ToolPattern are empty, the patterns determine the tools
	ToolPattern    Pattern   // of tool names
	Pattern        Pattern   // of a page's URL, or of the main argument of the tools
	CommandPattern Pattern   // of a shell command
	Unless         []Pattern // exceptions
	Parsed         bool      // match each simple command of a shell command separately

	Action   Action
	Message  string
	Limit    int    // denials per session before the rule only warns; 0 means no limit
	Rate     Rate   // the rule applies only to calls that exceed it
	Database string // name of the database to answer from

	Tests []RuleTest // not in snapshots
}

// A Rate is a maximum number of calls of a session in a period. The zero value is no rate.
type Rate struct {
	Calls   int
	Seconds int // the period, at most MaxRatePeriod
}

// The limits of a Rate.
const (
	MaxRateCalls  = 1000
	MaxRatePeriod = 24 * 60 * 60
)

func (r Rate) String() string {
	unit, n := "second", r.Seconds
	switch {
	case n%3600 == 0:
		unit, n = "hour", n/3600
	case n%60 == 0:
		unit, n = "minute", n/60
	}
	return plural(r.Calls, "call") + " in " + plural(n, unit)
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// A Pattern is a regular expression in Python's syntax, and the result of parsing it by
// package pattern. A pattern without text matches everything.
type Pattern struct {
	Text     string
	Expr     string   // for the regexp engine
	Groups   []string // group names by number; nil if no group has a name
	Literals []string // each matching folded text contains one of these

	Samples [2]string // texts that it probably matches; not in snapshots
}

// An Action is the effect of a rule on a call.
type Action string

const (
	ActionDeny Action = "deny"
	ActionWarn Action = "warn" // runs, with the message as context
	ActionAsk  Action = "ask"  // the user decides
	ActionPass Action = "pass" // runs as usual: no rule matches, or one that allows the call
)

// A RuleTest is a tool call with the expected action.
type RuleTest struct {
	Line     int
	Text     string // description of the test
	Tool     string
	Input    Raw // of the tool: an object
	Expect   Action
	Contains []string // of the message
	Rule     string   // name of the expected rule; empty for any
}
