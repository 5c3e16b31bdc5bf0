// Package progress shows long work: to a person at a terminal, in a log, to a
// program, or through an MCP client. Interruptible lets a context end it.
package progress

// An Event says how far a piece of long work is.
type Event struct {
	Stage string `json:"stage"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // 0 where it is not known yet

	// What else there is to tell, where the stage knows it. Done then counts
	// things that a person can imagine, such as pages.
	Failed   int64 `json:"failed,omitempty"`
	Bytes    int64 `json:"bytes,omitempty"`
	Passages int64 `json:"passages,omitempty"`
}

// A Func is told of events. Stages come one after another; a stage is over when
// done equals total or the next one begins. It may be called from several
// goroutines, and often: it is the Func's part to show only what can be read. A
// nil Func shows nothing; call it through Report or Show.
type Func func(Event)

// Report tells of a stage that knows no more than how much of it is done.
func (f Func) Report(stage string, done, total int64) {
	f.Show(Event{Stage: stage, Done: done, Total: total})
}

// Show calls f unless it is nil.
func (f Func) Show(e Event) {
	if f != nil {
		f(e)
	}
}
