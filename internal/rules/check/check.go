// Package check lints rules for likely mistakes and runs their tests.
package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/rules"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

// A Finding is a likely mistake in a rule.
type Finding struct {
	Rule *config.Rule
	Text string
}

// Rules reports rules that never fire because earlier rules match their calls, patterns
// that match every call, and patterns with excessive backtracking.
func Rules(list []config.Rule) []Finding {
	var found []Finding
	for i := range list {
		r := &list[i]
		add := func(format string, args ...any) {
			found = append(found, Finding{r, fmt.Sprintf(format, args...)})
		}
		if text, other := shadowed(list, i); other != "" {
			add("never fires: earlier rule %[2]s matches %[1]s", text, other)
		}
		if hasNoTool(r) {
			add("never fires: it applies to %s, but its command_pattern to Bash", strings.Join(r.Tools, ", "))
		}
		if tool := matchesAll(r); tool != "" {
			add("its pattern matches every %s call", tool)
		}
		for _, p := range patterns(r) {
			if text := slowInput(p); text != "" {
				add("pattern %s takes longer than %v on %s", strconv.Quote(p.Text), rules.Timeout, strconv.Quote(text))
			}
		}
	}
	return found
}

// matcher returns a matcher with a time limit that a busy machine does not reach.
func matcher() *rules.Matcher {
	return &rules.Matcher{Commands: shell.Commands, Timeout: time.Second}
}

// shadowed returns the rule before the i-th that matches all of its likely calls, and one
// of these calls. The calls are samples of the rule's patterns and its own tests.
func shadowed(list []config.Rule, i int) (text, by string) {
	m := matcher()
	for _, call := range likelyCalls(&list[i]) {
		if own, err := m.First(list[i:i+1], call); err != nil || own == nil {
			continue
		}
		before, err := m.First(list[:i], call)
		if err != nil || before == nil {
			return "", ""
		}
		text, by = strconv.Quote(call.Text), before.Rule.Name
	}
	return text, by
}

// likelyCalls returns calls that the rule probably matches.
func likelyCalls(r *config.Rule) []rules.Call {
	var list []rules.Call
	add := func(tool string, p config.Pattern) {
		if p.Text == "" {
			list = append(list, rules.Call{Tool: tool, Text: "{}"})
			return
		}
		for _, s := range p.Samples {
			list = append(list, rules.Call{Tool: tool, Text: s})
		}
	}
	tools := r.Tools
	if r.ToolPattern.Text != "" {
		tools = append(slices.Clone(tools), r.ToolPattern.Samples[:]...)
	}
	for _, tool := range tools {
		if tool == "Bash" && r.CommandPattern.Text != "" {
			add(tool, r.CommandPattern)
		} else {
			add(tool, r.Pattern)
		}
	}
	if len(tools) == 0 && r.Pattern.Text != "" {
		add("WebFetch", r.Pattern)
	}
	if len(tools) == 0 && r.CommandPattern.Text != "" {
		add("Bash", r.CommandPattern)
	}
	for i := range r.Tests {
		if call, err := testCall(&r.Tests[i]); err == nil && r.Tests[i].Expect != config.ActionPass {
			list = append(list, call)
		}
	}
	return list
}

// hasNoTool reports whether the rule has only a command pattern but lists tools without
// Bash.
func hasNoTool(r *config.Rule) bool {
	return r.CommandPattern.Text != "" && r.Pattern.Text == "" && r.ToolPattern.Text == "" && len(r.Tools) > 0 &&
		!slices.Contains(r.Tools, "Bash")
}

// ordinaryCalls are calls that a rule with a pattern should not match all of.
var ordinaryCalls = []rules.Call{
	{Tool: "Bash", Text: "ls"},
	{Tool: "Bash", Text: "git status"},
	{Tool: "Bash", Text: "make -j4 2>&1 | tail"},
	{Tool: "Bash", Text: "python3 -c 'print(1)'"},
	{Tool: "WebFetch", Text: "https://example.com/"},
	{Tool: "WebFetch", Text: "http://localhost:8080/a?b=c"},
	{Tool: "WebFetch", Text: "https://docs.python.org/3/library/re.html#re.search"},
	{Tool: "WebSearch", Text: "weather"},
	{Tool: "WebSearch", Text: "how to reverse a list in python 3.13"},
	{Tool: "Read", Text: "/etc/hosts"},
	{Tool: "Read", Text: `C:\src\main.go`},
	{Tool: "Edit", Text: "/etc/hosts"},
	{Tool: "Edit", Text: `C:\src\main.go`},
	{Tool: "Write", Text: "/etc/hosts"},
	{Tool: "Write", Text: `C:\src\main.go`},
}

// matchesAll returns a tool whose ordinary calls all match the rule's pattern, or "".
func matchesAll(r *config.Rule) string {
	m := matcher()
	all := map[string]bool{}
	for _, call := range ordinaryCalls {
		found, err := m.First([]config.Rule{*r}, call)
		matches := err == nil && found != nil && found.Pattern != nil
		if before, seen := all[call.Tool]; !seen || before {
			all[call.Tool] = matches
		}
	}
	for _, call := range ordinaryCalls {
		if all[call.Tool] {
			return call.Tool
		}
	}
	return ""
}

func patterns(r *config.Rule) []*config.Pattern {
	list := []*config.Pattern{&r.ToolPattern, &r.Pattern, &r.CommandPattern}
	for i := range r.Unless {
		list = append(list, &r.Unless[i])
	}
	return slices.DeleteFunc(list, func(p *config.Pattern) bool { return p.Text == "" })
}

const (
	// pumpLength is the length of the repeated part of a text.
	pumpLength = 300
	// slowFactor is the multiple of quadraticTime from which a pattern counts as slow. A
	// pattern with cubic time takes 100 times as long.
	slowFactor = 20
	// retries is the number of times that a slow text is tried again before it counts.
	retries = 3
	// maxPart is the maximum length of the repeated part.
	maxPart = 4
	// searchTimeout limits the search for a slow text per pattern.
	searchTimeout = time.Second / 2
)

// quadraticTime measures the time of a pattern with quadratic backtracking, at the
// machine's current load.
func quadraticTime() time.Duration {
	square := config.Rule{Tools: []string{"Bash"}, Pattern: config.Pattern{Text: "^a*a*b", Expr: "^a*a*b"}}
	call := rules.Call{Tool: "Bash", Text: strings.Repeat("a", pumpLength)}
	best := time.Minute
	for range 3 {
		m := rules.Matcher{Timeout: best}
		started := time.Now()
		if _, err := m.First([]config.Rule{square}, call); err == nil {
			best = min(best, time.Since(started))
		}
	}
	return best
}

// slowInput returns a text on which the pattern reaches its time limit, or "". The texts
// repeat a part of a sample and then end with a character that does not match.
func slowInput(p *config.Pattern) string {
	rule := config.Rule{Tools: []string{"Bash"}, Pattern: *p}
	reaches := func(text string, limit time.Duration) bool {
		late := false
		m := rules.Matcher{Timeout: limit, Fault: func(string, ...any) { late = true }}
		_, err := m.First([]config.Rule{rule}, rules.Call{Tool: "Bash", Text: text})
		return err == nil && late
	}
	// The machine may have been busy the first time.
	reachesAlways := func(text string) bool {
		for range retries {
			if !reaches(text, max(rules.Timeout, slowFactor*quadraticTime())) {
				return false
			}
		}
		return true
	}
	started := time.Now()
	tried := map[string]bool{}
	for _, sample := range p.Samples {
		runes := []rune(sample)
		for size := 1; size <= maxPart; size++ {
			for i := 0; i+size <= len(runes); i++ {
				part := string(runes[i : i+size])
				// The repeated part may be reached only after the text before it.
				for _, text := range []string{
					strings.Repeat(part, pumpLength/len(part)) + "\x00",
					string(runes[:i]) + strings.Repeat(part, pumpLength/len(part)) + "\x00",
				} {
					if tried[text] || time.Since(started) > searchTimeout {
						continue
					}
					tried[text] = true
					if reaches(text, rules.Timeout) && reachesAlways(text) {
						return string(runes[:i]) + strings.Repeat(part, 8) + "..."
					}
				}
			}
		}
	}
	return ""
}

// testCall returns the call of a test.
func testCall(t *config.RuleTest) (rules.Call, error) {
	data, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": t.Tool,
		"tool_input": t.Input})
	if err != nil {
		return rules.Call{}, err
	}
	event, err := event.Parse(data)
	return hook.RouteCall(event), err
}
