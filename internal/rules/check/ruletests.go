package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// A Result is what became of a test.
type Result struct {
	Rule      *config.Rule // whose test it is
	Test      *config.RuleTest
	MatchedBy *config.Rule // that matched; nil: none
	Want      string       // what was to be, and is not; empty: it passed
}

// Tests runs all tests of the rules. Each call is given to all the rules, as
// in use: what another rule does with it counts, too.
func Tests(rules []config.Rule) []Result {
	var results []Result
	m := matcher()
	for i := range rules {
		for j := range rules[i].Tests {
			test := &rules[i].Tests[j]
			result := Result{Rule: &rules[i], Test: test}
			call, err := callOf(test)
			if err != nil {
				result.Want = "a tool call: " + err.Error()
				results = append(results, result)
				continue
			}
			got, message := config.ActionPass, ""
			found, err := m.First(rules, call)
			if err != nil {
				result.Want = err.Error()
			}
			if found != nil {
				result.MatchedBy = found.Rule
				got, message = found.Rule.Action, found.Message()
			}
			switch {
			case result.Want != "":
			case got != test.Expect:
				result.Want = fmt.Sprintf("%s, got %s", test.Expect, got)
			case test.Rule != "" && (found == nil || found.Rule.Name != test.Rule):
				result.Want = "rule " + test.Rule
			default:
				for _, s := range test.Contains {
					if !strings.Contains(message, s) {
						result.Want = "a message with " + strconv.Quote(s)
					}
				}
			}
			results = append(results, result)
		}
	}
	return results
}
