package library

import "time"

// A Debouncer decides when to read a changing folder.
type Debouncer struct {
	lastSeen     string    // stamp at the last poll
	lastRead     string    // stamp at the last read
	changedSince time.Time // first poll that saw a change since the last read; zero: none
}

// maxDelay limits how long continuous changes postpone a read.
const maxDelay = 5 * time.Second

// Ready reports whether to read the folder with that stamp now. The stamp must
// differ from the last read, and either equal that of the last poll, which
// means that writing has stopped, or have differed for maxDelay.
func (c *Debouncer) Ready(stamp string, now time.Time) bool {
	quiet := stamp == c.lastSeen || c.lastRead == ""
	c.lastSeen = stamp
	if stamp == c.lastRead {
		c.changedSince = time.Time{}
		return false
	}
	if c.changedSince.IsZero() {
		c.changedSince = now
	}
	if !quiet && now.Sub(c.changedSince) < maxDelay {
		return false
	}
	c.lastRead, c.changedSince = stamp, time.Time{}
	return true
}
