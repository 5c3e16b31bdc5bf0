package activity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/humanize"
)

// A Tally is the number of decisions with an outcome, in words for people.
type Tally struct {
	Outcome string `json:"outcome"`
	Count   int    `json:"count"`
}

// tallyWeb counts what happened to web searches and pages.
func (s *Summary) tallyWeb(now time.Time) []Tally {
	counts := map[string]int{}
	for _, x := range s.follower.Searches() {
		switch {
		case !toWeb(x.Tool):
		case x.Denied:
			counts[describeDenial(x, now)]++
		default:
			counts[ranUnanswered]++
		}
	}
	counts[ranUnmatched] = s.Outcomes[eventlog.Unmatched]
	tallies := []Tally{}
	for _, outcome := range []string{used, usedAndSearched, callUnused, thenWeb, thenRan, denied, ranUnanswered,
		ranUnmatched} {
		if n := counts[outcome]; n > 0 {
			tallies = append(tallies, Tally{outcome, n})
		}
	}
	return tallies
}

// A Share is what happened to the calls of a database or a rule, in words for people.
type Share struct{ Name, Text string }

// ByDatabase returns the calls of each database, the one with the most events first.
func (s *Summary) ByDatabase() []Share {
	return shares(s.Databases, func(name string, c Counter) string {
		denials := countOf(c[eventlog.Answered]+c[eventlog.Redirected], "denied")
		if r := s.Reactions[name]; r != nil {
			denials += " (" + join(countOf(r.Neither, "used"), countOf(r.Searched, "used and searched further"),
				countOf(r.Reworded+r.Retried, "then went to the web")) + ")"
		}
		return join(denials, countOf(c[eventlog.Unanswered], "not answered"),
			countOf(c[eventlog.Context], "ran with added text"))
	})
}

// ByRule returns the calls of each rule, the one with the most events first.
func (s *Summary) ByRule() []Share {
	return shares(s.Rules, func(_ string, c Counter) string {
		return join(countOf(c[eventlog.Denied], "denied"),
			countOf(c[eventlog.Answered]+c[eventlog.Redirected], "denied with documentation"),
			countOf(c[eventlog.Prompted], "asked you"), countOf(c[eventlog.Context], "ran with added text"),
			countOf(c[eventlog.Retried], "ran when sent again"))
	})
}

func shares(rows map[string]Counter, text func(string, Counter) string) []Share {
	names := slices.SortedFunc(maps.Keys(rows), func(x, y string) int {
		return cmp.Or(cmp.Compare(rows[y].Sum(), rows[x].Sum()), cmp.Compare(x, y))
	})
	list := []Share{}
	for _, name := range names {
		if text := text(name, rows[name]); text != "" {
			list = append(list, Share{name, text})
		}
	}
	return list
}

// countOf returns "" for 0.
func countOf(n int, of string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s", humanize.Thousands(n), of)
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}
