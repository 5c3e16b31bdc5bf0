package config

// Inject is what the agent is told without asking, and when.
type Inject struct {
	Sessions   bool     `json:"sessions"`    // a line on each database when a session or a subagent starts
	Tools      []string `json:"tools"`       // whose calls are accompanied by entries
	Failures   bool     `json:"failures"`    // a passage on what a command failed with
	MaxChars   int      `json:"max_chars"`   // of the entries that accompany one call
	Floor      float64  `json:"floor"`       // relevance that an entry must have
	SkipAgents []string `json:"skip_agents"` // kinds of subagents that get no entries
}

// All is the pattern of all documents, as in a database's "inject": true.
const All = "**"

// InjectTools are the tools whose calls entries can accompany.
func InjectTools() []string {
	return []string{"Bash", "Edit", "MultiEdit", "NotebookEdit", "Write", "Read"}
}

// DefaultInject leaves out Read, which agents call most, and the subagents
// that change nothing.
func DefaultInject() Inject {
	tools := InjectTools()
	return Inject{
		Sessions: true, Tools: tools[:len(tools)-1], Failures: true, MaxChars: 3000, Floor: 1.2,
		SkipAgents: []string{"Explore", "Plan"},
	}
}

func (in *Inject) code(c *coder) {
	c.flag(&in.Sessions)
	c.texts(&in.Tools)
	c.flag(&in.Failures)
	c.int(&in.MaxChars)
	c.float(&in.Floor)
	c.texts(&in.SkipAgents)
}
