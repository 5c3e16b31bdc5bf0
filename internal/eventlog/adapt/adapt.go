// Package adapt moves the confidence thresholds of databases with the agents' reactions to
// denials: a denial that an agent retries was probably wrong.
//
// The threshold of the build is the lower bound, because it is calibrated with queries that
// the documentation does not answer, and nothing that the log records could show that a
// lower one is better. The upper bound is the highest threshold that still denies half of
// the recent searches that reach the lower bound, and at most Highest. So no agent can make
// a database deny more than its build allows, or almost nothing.
//
// In between, a threshold costs what the denials above it cost: a retried one counts
// retryCost, any other one -1. The threshold moves towards the cheapest one by at most Step
// for every stepDenials denials. Old denials lose weight, so that the threshold falls again if
// the evidence for it is old.
package adapt

import (
	"math"
	"time"
)

const (
	// Lowest and Highest limit every threshold.
	Lowest, Highest = .5, .9
	// Step is the distance of two thresholds.
	Step = .02
	// bins is the number of ranges of confidence, each of size Step, from Lowest to 1.
	bins = 25
	// highestLevel is the level of Highest: a threshold of level n is Lowest+n*Step.
	highestLevel = 20

	// stepDenials is the number of denials after which the threshold moves by Step, so that
	// a single session hardly moves it.
	stepDenials = 10
	// memory is the number of searches after which the weight of a denial has fallen to
	// 1/e. Without it, a threshold that has risen could never be tested again.
	memory = 200
	// retryCost is the cost of a denial that is retried, relative to the gain of any other
	// one: the agent reads the passages in vain and makes another call, whereas a right
	// denial saves one call. So denials pay if fewer than a third are retried.
	retryCost = 2
	// prior is the weight of the denials that are assumed in each range of confidence. Above
	// the threshold, none of them is retried, so that it rises only with evidence. Below it,
	// where denials are old, as many are retried as of all recent ones: it falls only if
	// denials are mostly right.
	prior = .25
	// margin is the cost that a threshold must save to be worth a move, so that chance does
	// not make it swing.
	margin = 3
	// minDenied is the share of the searches above the build's threshold that an adapted
	// one must deny.
	minDenied = .5
)

// Evidence is what the log shows about the denials of a database, by confidence: range n
// starts at Lowest+n*Step.
type Evidence struct {
	Kept     [bins]float64 `json:"kept"`     // weight of the denials that were not retried
	Retried  [bins]float64 `json:"retried"`  // weight of those that were
	Searches [bins]float64 `json:"searches"` // weight of all searches that reach the build's threshold
	Denials  int           `json:"denials"`
	Retries  int           `json:"retries"`
	Pending  int           `json:"pending"` // denials since the threshold could last move
}

// level returns the range of a confidence, or the highest level that does not exceed a
// threshold.
func level(confidence float64) int {
	const rounding = 1e-6
	return max(0, min(bins-1, int((confidence-Lowest)/Step+rounding)))
}

// threshold returns the threshold of a level, which is at least that of the build.
func threshold(n int, base float64) float64 {
	return max(base, math.Round((Lowest+float64(n)*Step)*100)/100)
}

// observe adds a search whose best passage has a confidence that reaches the threshold of
// the build.
func (e *Evidence) observe(s *Search, confidence float64) {
	const keep = 1 - 1./memory
	for i := range bins {
		e.Kept[i] *= keep
		e.Retried[i] *= keep
		e.Searches[i] *= keep
	}
	n := level(confidence)
	e.Searches[n]++
	switch {
	case !s.Denied:
		return
	case s.Reaction == Retried:
		e.Retried[n]++
		e.Retries++
	default:
		e.Kept[n]++
	}
	e.Denials++
	e.Pending++
}

// bounds returns the lowest and the highest level of a threshold.
func (e *Evidence) bounds(base float64) (low, high int) {
	low = level(base)
	all := sum(e.Searches[low:])
	denied := all
	for high = low; high < highestLevel; high++ {
		if denied -= e.Searches[high]; denied < minDenied*all || all == 0 {
			break
		}
	}
	return low, high
}

func sum(weights []float64) (all float64) {
	for _, w := range weights {
		all += w
	}
	return all
}

// best returns the level within the bounds at which the denials cost least, or the current
// one if that saves less than margin. If several cost the same, it is the lowest.
func (e *Evidence) best(current int, base float64) int {
	low, high := e.bounds(base)
	kept, retried := sum(e.Kept[:]), sum(e.Retried[:])
	below := prior * (kept - retryCost*retried) / max(1, kept+retried)
	best := low
	var cost [bins]float64 // of the denials above a level, relative to those above low
	for n := low; n < high; n++ {
		assumed := prior
		if n < current {
			assumed = below
		}
		cost[n+1] = cost[n] + assumed + e.Kept[n] - retryCost*e.Retried[n]
		if cost[n+1] < cost[best] {
			best = n + 1
		}
	}
	if low <= current && current <= high && cost[current]-cost[best] < margin {
		return current
	}
	return best
}

// Best returns the threshold at which the observed denials would cost least, or that of the
// build if it hardly costs more.
func (e *Evidence) Best(base float64) float64 { return threshold(e.best(level(base), base), base) }

// move returns the threshold after it has moved from current by at most one step, if it
// may, and keeps it within the bounds.
func (e *Evidence) move(current, base float64) float64 {
	low, high := e.bounds(base)
	n := level(max(current, base))
	if e.Pending >= stepDenials {
		e.Pending = 0
		switch best := e.best(n, base); {
		case best > n:
			n++
		case best < n:
			n--
		}
	}
	return threshold(max(low, min(high, n)), base)
}

// A Database is a database with the threshold of its build.
type Database struct {
	Name string
	Path string
	Base float64
}

// confidence returns the confidence in the best passage of a database.
func (s *Search) confidence(name string) float64 {
	for i, db := range s.Databases {
		if db == name && i < len(s.Confidence) {
			return s.Confidence[i]
		}
	}
	return 0
}

// EvidenceOf returns the evidence about a database in all searches.
func EvidenceOf(db Database, searches []*Search) *Evidence {
	e := &Evidence{}
	for _, s := range searches {
		if c := s.confidence(db.Name); c >= db.Base && s.decided() {
			e.observe(s, c)
		}
	}
	return e
}

// decided reports whether a search is evidence: it ran, or the reaction to its denial is
// known.
func (s *Search) decided() bool { return !s.Denied || s.Reaction != "" }

// Observe adds the searches from the last observation until a time, whose reactions are
// complete, and moves the thresholds. It reports whether one has moved.
func (t *Thresholds) Observe(dbs []Database, searches []*Search, until time.Time) (moved bool) {
	for _, db := range dbs {
		e := t.entry(db.Name, db.Path)
		before := max(e.Threshold, db.Base)
		now := before
		for _, s := range searches {
			c := s.confidence(db.Name)
			if !s.At.After(e.Seen) || s.At.After(until) || c < db.Base || !s.decided() {
				continue
			}
			e.observe(s, c)
			now = e.move(now, db.Base)
		}
		if until.After(e.Seen) {
			e.Seen = until
		}
		if e.Threshold = now; now <= db.Base {
			e.Threshold = 0
		}
		moved = moved || now != before
	}
	return moved
}
