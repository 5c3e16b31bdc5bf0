// Package progress reports the progress of long work: on a terminal, in a log, to
// a program, or to an MCP client. Interruptible lets a context cancel a read.
package progress

// An Event is the progress of one stage of the work.
type Event struct {
	Stage string `json:"stage"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // 0 if unknown

	// Optional counts. If one is set, Done counts units that a person knows, such
	// as pages.
	Failed   int64 `json:"failed,omitempty"`
	Bytes    int64 `json:"bytes,omitempty"`
	Passages int64 `json:"passages,omitempty"`
}

// A Func receives events. Stages follow one another. A stage ends if Done equals
// Total or the next stage begins. Several goroutines may call a Func, and often,
// so the Func must limit its own output. A nil Func shows nothing; call it
// through Report or Show.
type Func func(Event)

// Report reports a stage of which only Done and Total are known.
func (f Func) Report(stage string, done, total int64) {
	f.Show(Event{Stage: stage, Done: done, Total: total})
}

// Show calls f unless it is nil.
func (f Func) Show(e Event) {
	if f != nil {
		f(e)
	}
}
