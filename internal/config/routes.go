package config

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
	Database string // name of the database to answer from

	Tests []RuleTest // not in snapshots
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
