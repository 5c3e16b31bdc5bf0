package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// A Result is the result of a rule's test.
type Result struct {
	Rule      *config.Rule // rule that contains the test
	Test      *config.RuleTest
	MatchedBy *config.Rule // rule that matched; nil if none
	Want      string       // unmet expectation; empty if the test passed
}

// Tests runs all tests of the rules. Each call is matched with all rules, as in use, so
// another rule may decide it.
func Tests(rules []config.Rule) []Result {
	var results []Result
	m := matcher()
	for i := range rules {
		for j := range rules[i].Tests {
			test := &rules[i].Tests[j]
			result := Result{Rule: &rules[i], Test: test}
			call, err := testCall(test)
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
