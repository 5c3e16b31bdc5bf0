// Package deadline ends a hook process that takes too long, whether it waits for standard
// input, a file on a hung mount, a lock, or a search. The tool call then runs as usual.
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
	started  time.Time
	limit    atomic.Int64 // time.Duration
	timer    *time.Timer
	finished atomic.Bool // the limit has passed, or Stop was called
	expired  atomic.Pointer[func()]
	exit     func(code int)
}

// Start limits the run time of this process. When the limit has passed, the process
// reports that on standard error and calls exit(0).
func Start(limit time.Duration, exit func(code int)) *Deadline {
	d := &Deadline{started: time.Now(), exit: exit}
	d.limit.Store(int64(limit))
	d.timer = time.AfterFunc(limit, d.expire)
	return d
}

// Limit returns the limit before the config is read: $DOCSEARCH_HOOK_TIMEOUT_MS, or the
// default.
func Limit(getenv config.Getenv) time.Duration {
	ms, err := strconv.Atoi(getenv("DOCSEARCH_HOOK_TIMEOUT_MS"))
	if err != nil || ms < 1 || ms > config.MaxTimeoutMS {
		ms = config.DefaultTimeoutMS
	}
	return time.Duration(ms) * time.Millisecond
}

// Started returns the time of the call of Start.
func (d *Deadline) Started() time.Time { return d.started }

// Set replaces the limit, which still counts from Start.
func (d *Deadline) Set(limit time.Duration) {
	d.limit.Store(int64(limit))
	d.timer.Reset(limit - time.Since(d.started))
}

// OnExpire makes the process call f before it ends because the limit has passed.
func (d *Deadline) OnExpire(f func()) { d.expired.Store(&f) }

// End returns the time at which the limit passes.
func (d *Deadline) End() time.Time { return d.started.Add(time.Duration(d.limit.Load())) }

// Stop lifts the limit, because the process has its answer. If the limit has already
// passed, Stop blocks until the process ends.
func (d *Deadline) Stop() {
	if !d.finished.CompareAndSwap(false, true) {
		select {}
	}
	d.timer.Stop()
}

func (d *Deadline) expire() {
	if d.finished.CompareAndSwap(false, true) {
		os.Stderr.WriteString("docsearch: timeout after " + time.Duration(d.limit.Load()).String() +
			"; the call runs as usual\n")
		if f := d.expired.Load(); f != nil {
			(*f)()
		}
		d.exit(0)
	}
}
