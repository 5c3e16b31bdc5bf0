// Package rules matches rules with tool calls. The first rule that matches decides.
//
// A pattern can run forever on a text that its author did not expect, so each pattern has
// a time limit, and all patterns for a call share one that is slightly longer. A pattern
// that reaches its limit counts as a mismatch, is reported, and the other rules are tried.
//
// The hook imports this package. Its only third-party import is regexp2.
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
	// Timeout is the time limit of one pattern on one text.
	Timeout = 50 * time.Millisecond
	// totalSlack is the divisor for the extra time that all patterns for a call have
	// together: Timeout/totalSlack.
	totalSlack = 5
	// clockPeriod is the interval at which regexp2 checks the time.
	clockPeriod = time.Millisecond

	// MaxText is the maximum size of a text to match, in bytes.
	MaxText = 256 << 10
)

// A Call is a tool call as rules match it.
type Call struct {
	Tool string
	Text string // its main argument, or all of them as JSON
}

// A Match is a rule that matches a call.
type Match struct {
	Rule    *config.Rule
	Pattern *config.Pattern // the pattern that matched; nil if the rule has only a tool
	Part    string          // the call's text, or the one of its commands that matched
	Text    string          // matched by the pattern
	groups  []string
}

// A Matcher matches rules with calls.
type Matcher struct {
	// Commands parses a line of shell into its simple commands. If it is nil, a rule with
	// parsed commands results in ErrCommands.
	Commands func(line string) ([]string, error)

	Trace   func(format string, args ...any) // reports rules whose patterns were tried; may be nil
	Fault   func(format string, args ...any) // reports rules that could not be tried; may be nil
	Timeout time.Duration                    // of one pattern; 0 means the constant
}

// ErrCommands reports that a rule needs parsed commands and Matcher.Commands is nil.
var ErrCommands = errors.New("a rule needs parsed commands")

// An Outcome is the result of matching one rule.
type Outcome string

const (
	OtherTool Outcome = "for other tools"
	NoLiteral Outcome = "the text lacks a required literal"
	NoMatch   Outcome = "the pattern does not match"
	Excepted  Outcome = "an exception matches"
	Allowed   Outcome = "allows a part of the command"
	Failed    Outcome = "skipped" // the reason was passed to Fault
	Matches   Outcome = "matches"
)

// First returns the first of the rules that matches a call, or nil.
func (m *Matcher) First(rules []config.Rule, c Call) (*Match, error) { return m.Search(c).First(rules) }

// First returns the first of the rules that matches the call, or nil. Rules of later calls
// come after these: they ignore the commands that these allow. They have a time limit of
// their own, because to read them may have taken longer than that of these.
func (s *Search) First(rules []config.Rule) (*Match, error) {
	s.started = time.Time{}
	for i := range rules {
		match, outcome, err := s.try(&rules[i])
		if err != nil || match != nil {
			return match, err
		}
		if s.Trace != nil && outcome != OtherTool && outcome != NoLiteral {
			s.Trace("rule %s: %s", rules[i].Name, outcome)
		}
	}
	return nil, nil
}

// Outcomes returns the outcomes of the rules up to the first that matches.
func (m *Matcher) Outcomes(rules []config.Rule, c Call) ([]Outcome, *Match, error) {
	s := m.Search(c)
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

// A Search is the state of matching one call with several rules.
type Search struct {
	*Matcher
	Call   Call
	folded string // the call's text, folded
	tool   string // the tool's name, folded

	started  time.Time // when the first pattern was tried
	commands []string  // the call's simple commands, once parsed; without those that a rule allows
	parseErr error     // error of parsing them
}

// Search returns the state before any rule.
func (m *Matcher) Search(c Call) *Search {
	return &Search{Matcher: m, Call: c, folded: pattern.Fold(c.Text), tool: pattern.Fold(c.Tool)}
}

// fail reports why a rule cannot be tried.
func (s *Search) fail(r *config.Rule, format string, args ...any) Outcome {
	if s.Fault != nil {
		s.Fault("rule %s skipped: %s", r.Name, fmt.Sprintf(format, args...))
	}
	return Failed
}

// try matches one rule.
func (s *Search) try(r *config.Rule) (*Match, Outcome, error) {
	p, outcome := s.applies(r)
	if outcome != "" {
		return nil, outcome, nil
	}
	if p == nil {
		if outcome := s.excepted(r, s.Call.Text); outcome != "" {
			return nil, outcome, nil
		}
		return &Match{Rule: r, Part: s.Call.Text, Text: s.Call.Tool}, Matches, nil
	}
	if !pattern.MayMatch(p.Literals, s.folded) {
		return nil, NoLiteral, nil
	}
	parts := []string{s.Call.Text}
	if r.Parsed && s.Call.Tool == "Bash" {
		if s.Commands == nil {
			return nil, "", ErrCommands
		}
		var err error
		if parts, err = s.parseCommands(); err != nil {
			return nil, s.fail(r, "cannot parse the command: %v", err), nil
		}
	}
	match, outcome := s.tryParts(r, p, parts)
	return match, outcome, nil
}

// tryParts matches a rule with the parts of a call. A rule that allows commands matches
// only if it allows all of them; otherwise, later rules ignore the ones that it allows.
func (s *Search) tryParts(r *config.Rule, p *config.Pattern, parts []string) (*Match, Outcome) {
	outcome := NoMatch
	var others []string
	for _, part := range parts {
		found, err := s.match(p, part)
		if err != nil {
			return nil, s.fail(r, "its pattern %v", err)
		}
		if found == nil {
			others = append(others, part)
			continue
		}
		switch outcome = s.excepted(r, part); {
		case outcome == Failed:
			return nil, outcome
		case outcome == Excepted:
			others = append(others, part)
		case r.Action != config.ActionPass || !r.Parsed || len(others) == 0 && part == parts[len(parts)-1]:
			match := &Match{Rule: r, Pattern: p, Part: part, Text: found.String()}
			for _, g := range found.Groups() {
				match.groups = append(match.groups, g.String())
			}
			return match, Matches
		}
	}
	if r.Action == config.ActionPass && r.Parsed && len(others) < len(parts) {
		s.commands, outcome = others, Allowed
	}
	return nil, outcome
}

// applies returns the pattern that decides whether a rule matches, or nil if the tool is
// sufficient. If the rule does not apply to the call, it returns the outcome.
func (s *Search) applies(r *config.Rule) (*config.Pattern, Outcome) {
	p, outcome := selectPattern(r, s.Call.Tool, s.tool)
	if outcome == "" && r.ToolPattern.Text != "" && !containsTool(r.Tools, s.Call.Tool) {
		switch found, err := s.match(&r.ToolPattern, s.Call.Tool); {
		case err != nil:
			return nil, s.fail(r, "its tool_pattern %v", err)
		case found == nil:
			return nil, OtherTool
		}
	}
	return p, outcome
}

// selectPattern is applies without matching the tool pattern: it only checks that
// pattern's required literals.
func selectPattern(r *config.Rule, tool, folded string) (*config.Pattern, Outcome) {
	named := len(r.Tools) > 0 || r.ToolPattern.Text != ""
	if named && !containsTool(r.Tools, tool) &&
		(r.ToolPattern.Text == "" || !pattern.MayMatch(r.ToolPattern.Literals, folded)) {
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

// containsTool reports whether a tool is in the list, in any case.
func containsTool(tools []string, tool string) bool {
	return slices.ContainsFunc(tools, func(name string) bool { return strings.EqualFold(name, tool) })
}

// Candidate returns a filter for rules that may match a call. It compiles no pattern.
// Rules that it rejects do not match.
func Candidate(c Call) func(r *config.Rule) bool {
	tool, text := pattern.Fold(c.Tool), pattern.Fold(c.Text)
	return func(r *config.Rule) bool {
		p, outcome := selectPattern(r, c.Tool, tool)
		return outcome == "" && (p == nil || pattern.MayMatch(p.Literals, text))
	}
}

// Covers reports whether a rule may match a call of a tool. It compiles no pattern,
// so it also returns true for some tools that tool_pattern excludes.
func Covers(r *config.Rule, tool string) bool {
	_, outcome := selectPattern(r, tool, pattern.Fold(tool))
	return outcome == ""
}

// CoversServers reports whether a rule may match a call of an MCP tool. Any
// tool_pattern may match the name of one.
func CoversServers(r *config.Rule) bool {
	return r.ToolPattern.Text != "" || slices.ContainsFunc(r.Tools, func(name string) bool {
		return strings.HasPrefix(pattern.Fold(name), "mcp__")
	})
}

// excepted returns the outcome if one of the rule's exceptions matches or fails, and ""
// otherwise. Either way the rule does not apply.
func (s *Search) excepted(r *config.Rule, part string) Outcome {
	if len(r.Unless) == 0 {
		return ""
	}
	folded := pattern.Fold(part)
	for i := range r.Unless {
		p := &r.Unless[i]
		if !pattern.MayMatch(p.Literals, folded) {
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

func (s *Search) parseCommands() ([]string, error) {
	if s.commands == nil && s.parseErr == nil {
		s.commands, s.parseErr = s.Commands(s.Call.Text)
	}
	return s.commands, s.parseErr
}

// match matches a pattern with a text.
func (s *Search) match(p *config.Pattern, text string) (*regexp2.Match, error) {
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
	re, err := compile(p)
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

// clock sets regexp2's clock period once: its default is twice the time limit.
var clock sync.Once

func compile(p *config.Pattern) (*regexp2.Regexp, error) {
	clock.Do(func() { regexp2.SetTimeoutCheckPeriod(clockPeriod) })
	return regexp2.Compile(p.Expr, regexp2.IgnoreCase)
}

// Check returns an error if a pattern does not compile.
func Check(p config.Pattern) error {
	_, err := compile(&p)
	return err
}
