package generation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Skipped is a part of the source without passages, and the reason.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"why"`
}

// ErrNoPassages reports a source without passages. An empty database would hide the
// mistake.
var ErrNoPassages = errors.New("the source has no passages")

// A NoPassagesError is ErrNoPassages with the skipped parts.
type NoPassagesError struct{ Skipped []Skipped }

func (e *NoPassagesError) Unwrap() error { return ErrNoPassages }

func (e *NoPassagesError) Error() string {
	if len(e.Skipped) == 0 {
		return ErrNoPassages.Error()
	}
	return ErrNoPassages.Error() + "; skipped: " + Reasons(e.Skipped)
}

// Unreadable is the prefix of reasons for read errors. Reasons lists these first.
const Unreadable = "cannot read: "

// Reasons lists the reasons for skipping, each with the number of parts and the first
// of them.
func Reasons(skipped []Skipped) string {
	const limit = 5
	type reason struct {
		why, first string
		n          int
	}
	var reasons []reason
	at := make(map[string]int)
	for _, s := range skipped {
		i, found := at[s.Reason]
		if !found {
			i = len(reasons)
			at[s.Reason] = i
			reasons = append(reasons, reason{s.Reason, s.Name, 0})
		}
		reasons[i].n++
	}
	slices.SortStableFunc(reasons, func(a, b reason) int {
		if unreadable := strings.HasPrefix(a.why, Unreadable); unreadable != strings.HasPrefix(b.why, Unreadable) {
			if unreadable {
				return -1
			}
			return 1
		}
		return b.n - a.n
	})
	var parts []string
	others := len(skipped)
	for _, r := range reasons[:min(limit, len(reasons))] {
		others -= r.n
		if r.n == 1 {
			parts = append(parts, fmt.Sprintf("%s (%s)", r.why, r.first))
		} else {
			parts = append(parts, fmt.Sprintf("%s (%d, such as %s)", r.why, r.n, r.first))
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d more for other reasons", others))
	}
	return strings.Join(parts, "; ")
}

// Summary shortens skipped for the manifest. It lists a frequent reason once, with the
// number of parts and the first of them.
func Summary(skipped []Skipped) []Skipped {
	const maxRepeats, limit = 3, 40
	count := make(map[string]int)
	for _, s := range skipped {
		count[s.Reason]++
	}
	var short []Skipped
	for _, s := range skipped {
		n := count[s.Reason]
		switch {
		case len(short) == limit:
			return append(short, Skipped{Name: "...", Reason: fmt.Sprintf("%d in total", len(skipped))})
		case n > maxRepeats:
			short = append(short, Skipped{Name: fmt.Sprintf("%s and %d more", s.Name, n-1), Reason: s.Reason})
			count[s.Reason] = 0
		case n > 0:
			short = append(short, s)
		}
	}
	return short
}
