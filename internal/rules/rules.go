// Package rules tries rules on tool calls: the first that matches a call, in
// their order, says what becomes of it.
//
// A pattern can take forever on a text that its author did not think of, so
// each has a time limit, and all of a call's together have one that is hardly
// longer. A pattern that reaches it does not match, which is said, and the
// others are tried.
//
// The hook imports this package: of others' packages, regexp2 only.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/rules/pattern"
)

const (
	// Timeout is how long a pattern may take on a text.
	Timeout = 50 * time.Millisecond
	// totalSlack is the part of that by which all of them may take longer together.
	totalSlack = 5
	// clockPeriod is how often a pattern's time is looked at.
	clockPeriod = time.Millisecond

	// MaxText is how much of a text patterns are tried on, in bytes.
	MaxText = 256 << 10
)

// A Call is a tool call as rules see it.
type Call struct {
	Tool string
	Text string // its main argument, or all of them as JSON
}

// A Match is a rule that matches a call.
type Match struct {
	Rule    *config.Rule
	Pattern *config.Pattern // the one that matched; nil where the tool alone is enough
	Part    string          // of the call's text: all of it, or one of its commands
	Text    string          // what the pattern matched
	groups  []string
}

// A Matcher tries rules on calls.
type Matcher struct {
	// Commands cuts a line of shell into its simple commands. Without it,
	// rules that ask for that have ErrCommands.
	Commands func(line string) ([]string, error)

	Trace   func(format string, args ...any) // of rules whose patterns were tried; may be nil
	Fault   func(format string, args ...any) // of rules that could not be; may be nil
	Timeout time.Duration                    // of one pattern; 0: the constant
}

// ErrCommands says that a line of shell has to be cut into commands, and
// nothing here can.
var ErrCommands = errors.New("a rule needs parsed commands")

// An Outcome is what became of one rule.
type Outcome string

const (
	OtherTool Outcome = "for other tools"
	NoLiteral Outcome = "the text lacks a required literal"
	NoMatch   Outcome = "the pattern does not match"
	Excepted  Outcome = "an exception matches"
	Failed    Outcome = "skipped" // Fault says why
	Matches   Outcome = "matches"
)

// First returns the first of the rules that matches a call, nil if none does.
func (m *Matcher) First(rules []config.Rule, c Call) (*Match, error) {
	s := m.search(c)
	for i := range rules {
		match, outcome, err := s.try(&rules[i])
		if err != nil || match != nil {
			return match, err
		}
		if m.Trace != nil && outcome != OtherTool && outcome != NoLiteral {
			m.Trace("rule %s: %s", rules[i].Name, outcome)
		}
	}
	return nil, nil
}

// Outcomes are what becomes of the rules, up to the first that matches.
func (m *Matcher) Outcomes(rules []config.Rule, c Call) ([]Outcome, *Match, error) {
	s := m.search(c)
	var list []Outcome
	for i := range rules {
		match, outcome, err := s.try(&rules[i])
		if err != nil {
			return list, nil, err
		}
		if list = append(list, outcome); match != nil {
			return list, match, nil
		}
	}
	return list, nil, nil
}

// A search is what is done for one call.
type callMatch struct {
	*Matcher
	call   Call
	folded string // the call's text
	tool   string // the tool's name, folded

	started  time.Time // of the first pattern
	commands []string  // the call's simple commands
	parseErr error     // why there are none
}

func (m *Matcher) search(c Call) *callMatch {
	return &callMatch{Matcher: m, call: c, folded: pattern.Fold(c.Text), tool: pattern.Fold(c.Tool)}
}

// fail says why a rule cannot be tried.
func (s *callMatch) fail(r *config.Rule, format string, args ...any) Outcome {
	if s.Fault != nil {
		s.Fault("rule %s skipped: %s", r.Name, fmt.Sprintf(format, args...))
	}
	return Failed
}

// try tries one rule.
func (s *callMatch) try(r *config.Rule) (*Match, Outcome, error) {
	p, outcome := s.applies(r)
	if outcome != "" {
		return nil, outcome, nil
	}
	if p == nil {
		if outcome := s.excepted(r, s.call.Text); outcome != "" {
			return nil, outcome, nil
		}
		return &Match{Rule: r, Part: s.call.Text, Text: s.call.Tool}, Matches, nil
	}
	if !pattern.MayMatch(p.Needs, s.folded) {
		return nil, NoLiteral, nil
	}
	parts := []string{s.call.Text}
	if r.Parsed && s.call.Tool == "Bash" {
		if s.Commands == nil {
			return nil, "", ErrCommands
		}
		var err error
		if parts, err = s.parseCommands(); err != nil {
			return nil, s.fail(r, "cannot parse the command: %v", err), nil
		}
	}
	outcome = NoMatch
	for _, part := range parts {
		found, err := s.match(p, part)
		if err != nil {
			return nil, s.fail(r, "its pattern %v", err), nil
		}
		if found == nil {
			continue
		}
		if outcome = s.excepted(r, part); outcome == Failed {
			break
		}
		if outcome == "" {
			match := &Match{Rule: r, Pattern: p, Part: part, Text: found.String()}
			for _, g := range found.Groups() {
				match.groups = append(match.groups, g.String())
			}
			return match, Matches, nil
		}
	}
	return nil, outcome, nil
}

// applies returns the pattern that decides whether a rule matches, nil if the
// tool alone is enough; or why it does not apply.
func (s *callMatch) applies(r *config.Rule) (*config.Pattern, Outcome) {
	p, outcome := selectPattern(r, s.call.Tool, s.tool)
	if outcome == "" && r.ToolPattern.Text != "" && !containsTool(r.Tools, s.call.Tool) {
		switch found, err := s.match(&r.ToolPattern, s.call.Tool); {
		case err != nil:
			return nil, s.fail(r, "its tool_pattern %v", err)
		case found == nil:
			return nil, OtherTool
		}
	}
	return p, outcome
}

// selectPattern is applies without a look at the pattern of tools, but for what
// that needs.
func selectPattern(r *config.Rule, tool, folded string) (*config.Pattern, Outcome) {
	named := len(r.Tools) > 0 || r.ToolPattern.Text != ""
	if named && !containsTool(r.Tools, tool) && (r.ToolPattern.Text == "" || !pattern.MayMatch(r.ToolPattern.Needs, folded)) {
		return nil, OtherTool
	}
	switch {
	case tool == "Bash" && r.CommandPattern.Text != "":
		return &r.CommandPattern, ""
	case r.Pattern.Text != "" && (named || tool == "WebFetch"):
		return &r.Pattern, ""
	case r.Pattern.Text != "" || r.CommandPattern.Text != "":
		return nil, OtherTool
	}
	return nil, ""
}

// containsTool reports whether a tool is one of those.
func containsTool(tools []string, tool string) bool {
	return slices.ContainsFunc(tools, func(name string) bool { return strings.EqualFold(name, tool) })
}

// Candidate tells of rules, without compiling a pattern, which ones may match a
// call: all others do not.
func Candidate(c Call) func(r *config.Rule) bool {
	tool, text := pattern.Fold(c.Tool), pattern.Fold(c.Text)
	return func(r *config.Rule) bool {
		p, outcome := selectPattern(r, c.Tool, tool)
		return outcome == "" && (p == nil || pattern.MayMatch(p.Needs, text))
	}
}

// excepted reports whether one of the rule's exceptions matches, or fails: the
// call goes through either way.
func (s *callMatch) excepted(r *config.Rule, part string) Outcome {
	if len(r.Unless) == 0 {
		return ""
	}
	folded := pattern.Fold(part)
	for i := range r.Unless {
		p := &r.Unless[i]
		if !pattern.MayMatch(p.Needs, folded) {
			continue
		}
		switch found, err := s.match(p, part); {
		case err != nil:
			return s.fail(r, "its exception %v", err)
		case found != nil:
			return Excepted
		}
	}
	return ""
}

func (s *callMatch) parseCommands() ([]string, error) {
	if s.commands == nil && s.parseErr == nil {
		s.commands, s.parseErr = s.Commands(s.call.Text)
	}
	return s.commands, s.parseErr
}

// match tries a pattern on a text.
func (s *callMatch) match(p *config.Pattern, text string) (*regexp2.Match, error) {
	now := time.Now()
	if s.started.IsZero() {
		s.started = now
	}
	limit := s.Timeout
	if limit == 0 {
		limit = Timeout
	}
	left := min(limit, limit+limit/totalSlack-now.Sub(s.started))
	if left <= 0 {
		return nil, errors.New("was not tried: other patterns used the time limit")
	}
	re, err := compiled(p)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = left
	found, err := re.FindStringMatch(text)
	if err != nil {
		return nil, fmt.Errorf("takes longer than %v on this text", left.Round(time.Millisecond))
	}
	return found, nil
}

// clock has regexp2 look at the time often enough: its own interval is twice
// the limit.
var clock sync.Once

func compiled(p *config.Pattern) (*regexp2.Regexp, error) {
	clock.Do(func() { regexp2.SetTimeoutCheckPeriod(clockPeriod) })
	return regexp2.Compile(p.Expr, regexp2.IgnoreCase)
}

// Check reports what is wrong with a pattern.
func Check(p config.Pattern) error {
	_, err := compiled(&p)
	return err
}
