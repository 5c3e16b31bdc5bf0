package config

// Inject configures the notes and the session context that the hook adds.
type Inject struct {
	Sessions   bool     `json:"sessions"`    // list the databases when a session or a subagent starts
	Tools      []string `json:"tools"`       // tools whose calls get notes
	Failures   bool     `json:"failures"`    // add passages about a failed command
	TopK       int      `json:"top_k"`       // maximum number of notes or passages for one call
	Hybrid     bool     `json:"hybrid"`      // also use the vectors of the databases
	MaxChars   int      `json:"max_chars"`   // of the notes for one call
	Floor      float64  `json:"floor"`       // minimum relevance of a note
	SkipAgents []string `json:"skip_agents"` // types of subagents that get no notes
}

// All is the pattern that matches all documents, as for "inject": true in a database.
const All = "**"

// InjectTools returns the tools whose calls can get notes.
func InjectTools() []string {
	return append(EditTools(), "Read")
}

// MaxInject is the maximum of Inject.TopK.
const MaxInject = 8

// DefaultInject omits Read, the most frequent tool, and the subagents that only read.
func DefaultInject() Inject {
	tools := InjectTools()
	return Inject{
		Sessions: true, Tools: tools[:len(tools)-1], Failures: true, TopK: MaxInject, MaxChars: 3000, Floor: 1.2,
		SkipAgents: []string{"Explore", "Plan"},
	}
}

// FloorOf returns the minimum relevance of a note for one of Lore, from 0 to 1, so that the defaults
// of both agree.
func FloorOf(minRelevance float64) float64 { return 2 * minRelevance }

func (in *Inject) code(c *coder) {
	c.flag(&in.Sessions)
	c.texts(&in.Tools)
	c.flag(&in.Failures)
	c.int(&in.TopK)
	c.flag(&in.Hybrid)
	c.int(&in.MaxChars)
	c.float(&in.Floor)
	c.texts(&in.SkipAgents)
}
