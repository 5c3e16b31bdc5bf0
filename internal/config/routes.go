package config

// A Rule says what becomes of tool calls that it matches.
type Rule struct {
	Name   string
	Origin string // the file that has it
	Line   int    // there; 0: unknown

	Tools          []string // names of the tools it is for, in any case; with these and ToolPattern empty, what its patterns are for
	ToolPattern    Pattern  // of such names
	Pattern        Pattern  // of a page's address, or of the main argument of the tools it names
	CommandPattern Pattern  // of a shell command
	Unless         []Pattern
	Parsed         bool // a shell command is matched one simple command at a time

	Action   Action
	Message  string
	Limit    int    // denials in a session before it only warns; 0: no limit
	Database string // name of the one to answer from

	Tests []RuleTest // not in snapshots
}

// A Pattern is a regular expression as Python writes it, and what package
// pattern makes of it. One without text matches everything.
type Pattern struct {
	Text   string
	Expr   string   // for the engine
	Groups []string // names by number; nil if none has one
	Needs  []string // folded texts of which a match has one

	Samples [2]string // texts that it is likely to match; not in snapshots
}

// An Action is what a rule does to a call.
type Action string

const (
	ActionDeny Action = "deny"
	ActionWarn Action = "warn" // it goes through, with the message as context
	ActionAsk  Action = "ask"  // the user decides
	ActionPass Action = "pass" // it goes through: what no rule matches
)

// A RuleTest is a tool call and what the rules are to do with it.
type RuleTest struct {
	Line     int
	Text     string // what it tests, in words
	Tool     string
	Input    Raw // of the tool: an object
	Expect   Action
	Contains []string // of the message
	Rule     string   // that must be the one; empty: any
}
