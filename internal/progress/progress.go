// Package progress shows long work: to a person at a terminal, in a log, to a
// program, or through an MCP client.
package progress

// A Func is told how far a piece of long work is: the stage by its name, and
// how much of it is done. total is 0 where it is not known yet. Stages come
// one after another; a stage is over when done equals total or the next one
// begins. It may be called from several goroutines, and often: it is the
// Func's part to show only what can be read. A nil Func shows nothing; call
// it through Report.
type Func func(stage string, done, total int64)

// Report calls f unless it is nil.
func (f Func) Report(stage string, done, total int64) {
	if f != nil {
		f(stage, done, total)
	}
}
