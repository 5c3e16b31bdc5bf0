// Package deadline ends a hook process that takes too long, whatever it waits
// for: standard input, a file on a mount that does not answer, a lock, or a
// search. The tool call runs as usual then.
package deadline

import (
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// A Deadline is a time limit on this process, counted from Start.
type Deadline struct {
	started time.Time
	limit   atomic.Int64 // time.Duration
	timer   *time.Timer
	finished    atomic.Bool // it has passed, or the process has its answer
	exit    func(code int)
}

// Start sets a limit of the time that this process may take. When it has
// passed, the process says so on standard error and ends by a call of exit(0).
func Start(limit time.Duration, exit func(code int)) *Deadline {
	d := &Deadline{started: time.Now(), exit: exit}
	d.limit.Store(int64(limit))
	d.timer = time.AfterFunc(limit, d.expire)
	return d
}

// Limit is the limit of a process that has not read its config yet: that of
// $DOCSEARCH_HOOK_TIMEOUT_MS, else the default.
func Limit(getenv config.Getenv) time.Duration {
	ms, err := strconv.Atoi(getenv("DOCSEARCH_HOOK_TIMEOUT_MS"))
	if err != nil || ms < 1 || ms > config.MaxTimeoutMS {
		ms = config.DefaultTimeoutMS
	}
	return time.Duration(ms) * time.Millisecond
}

// Started is when Start was called.
func (d *Deadline) Started() time.Time { return d.started }

// Set replaces the limit, which still counts from Start.
func (d *Deadline) Set(limit time.Duration) {
	d.limit.Store(int64(limit))
	d.timer.Reset(limit - time.Since(d.started))
}

// Stop lifts the limit: the process has its answer. If the deadline has passed
// already, Stop does not return, since the process is about to end.
func (d *Deadline) Stop() {
	if !d.finished.CompareAndSwap(false, true) {
		select {}
	}
	d.timer.Stop()
}

func (d *Deadline) expire() {
	if d.finished.CompareAndSwap(false, true) {
		os.Stderr.WriteString("docsearch: timeout after " + time.Duration(d.limit.Load()).String() + "; the call runs as usual\n")
		d.exit(0)
	}
}
