// Package route tries rules on tool calls: the first that matches a call, in
// their order, says what becomes of it.
//
// A pattern can take forever on a text that its author did not think of, so
// each has a time limit, and all of a call's together have one that is hardly
// longer. A pattern that reaches it does not match, which is said, and the
// others are tried.
//
// The hook imports this package: of others' packages, regexp2 only.
package route

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/route/pattern"
)

const (
	// Timeout is how long a pattern may take on a text.
	Timeout = 50 * time.Millisecond
	// grace is how much longer all of them may take together.
	grace = 10 * time.Millisecond
	// tick is how often a pattern's time is looked at.
	tick = time.Millisecond

	// MaxText is the longest text that patterns are tried on, in bytes.
	MaxText = 256 << 10
)

// A Call is a tool call as rules see it.
type Call struct {
	Tool string
	Text string // what patterns are tried on, see Text
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

	Trace   func(format string, args ...any) // of every rule that was tried; may be nil
	Fault   func(format string, args ...any) // of a rule that could not be
	Timeout time.Duration                    // of one pattern; 0: the constant
}

// ErrCommands says that a line of shell has to be cut into commands, and
// nothing here can.
var ErrCommands = errors.New("a rule asks for the commands of a line")

// First returns the first of the rules that matches a call, nil if none does.
func (m *Matcher) First(rules []config.Rule, c Call) (*Match, error) {
	s := search{Matcher: m, call: c, folded: pattern.Fold(c.Text), tool: pattern.Fold(c.Tool)}
	if s.Timeout == 0 {
		s.limit = Timeout
	} else {
		s.limit = s.Timeout
	}
	for i := range rules {
		match, err := s.try(&rules[i])
		if match != nil || err != nil {
			return match, err
		}
	}
	return nil, nil
}

// A search is what is done for one call.
type search struct {
	*Matcher
	call   Call
	folded string // the call's text
	tool   string // the tool's name, folded

	limit   time.Duration
	started time.Time // of the first pattern
	parts   []string  // the call's simple commands
	cut     error     // why there are none
}

func (s *search) trace(format string, args ...any) {
	if s.Trace != nil {
		s.Trace(format, args...)
	}
}

func (s *search) fault(format string, args ...any) {
	if s.Fault != nil {
		s.Fault(format, args...)
	}
}

// try returns the match of one rule, nil if it does not match.
func (s *search) try(r *config.Rule) (*Match, error) {
	p, ok := s.applies(r)
	if !ok {
		return nil, nil
	}
	if p == nil {
		if s.excepted(r, s.call.Text) {
			return nil, nil
		}
		return &Match{Rule: r, Part: s.call.Text, Text: s.call.Tool}, nil
	}
	if !mayMatch(p, s.folded) {
		return nil, nil
	}
	parts := []string{s.call.Text}
	if r.Parsed && s.call.Tool == "Bash" {
		if s.Commands == nil {
			return nil, ErrCommands
		}
		if parts, s.cut = s.commands(); s.cut != nil {
			s.fault("rule %s is left out: the command cannot be parsed: %v", r.Name, s.cut)
			return nil, nil
		}
	}
	for _, part := range parts {
		found, err := s.match(p, part)
		if err != nil {
			s.fault("rule %s is left out: its pattern %v", r.Name, err)
			return nil, nil
		}
		if found == nil || s.excepted(r, part) {
			continue
		}
		match := &Match{Rule: r, Pattern: p, Part: part, Text: found.String()}
		for _, g := range found.Groups() {
			match.groups = append(match.groups, g.String())
		}
		return match, nil
	}
	s.trace("rule %s: no match", r.Name)
	return nil, nil
}

// applies reports whether a rule is for the call's tool, and the pattern that
// decides then: nil if none has to.
func (s *search) applies(r *config.Rule) (*config.Pattern, bool) {
	named := len(r.Tools) > 0 || r.ToolPattern.Text != ""
	if named && !slices.Contains(r.Tools, s.call.Tool) {
		if r.ToolPattern.Text == "" || !mayMatch(&r.ToolPattern, s.tool) {
			return nil, false
		}
		found, err := s.match(&r.ToolPattern, s.call.Tool)
		if err != nil {
			s.fault("rule %s is left out: its tool_pattern %v", r.Name, err)
		}
		if found == nil {
			return nil, false
		}
	}
	switch {
	case s.call.Tool == "Bash" && r.CommandPattern.Text != "":
		return &r.CommandPattern, true
	case r.Pattern.Text != "":
		return &r.Pattern, named || s.call.Tool == "WebFetch"
	case r.CommandPattern.Text != "":
		return nil, false
	}
	return nil, named
}

// excepted reports whether one of the rule's exceptions matches. One that
// cannot be tried counts as if it did: the call goes through.
func (s *search) excepted(r *config.Rule, part string) bool {
	folded := s.folded
	if part != s.call.Text {
		folded = pattern.Fold(part)
	}
	for i := range r.Unless {
		p := &r.Unless[i]
		if !mayMatch(p, folded) {
			continue
		}
		found, err := s.match(p, part)
		if err != nil {
			s.fault("rule %s is left out: its exception %v", r.Name, err)
			return true
		}
		if found != nil {
			s.trace("rule %s: excepted by %s", r.Name, p.Text)
			return true
		}
	}
	return false
}

func mayMatch(p *config.Pattern, folded string) bool {
	q := pattern.Pattern{Needs: p.Needs}
	return q.May(folded)
}

func (s *search) commands() ([]string, error) {
	if s.parts == nil && s.cut == nil {
		s.parts, s.cut = s.Commands(s.call.Text)
	}
	return s.parts, s.cut
}

// match tries a pattern on a text.
func (s *search) match(p *config.Pattern, text string) (*regexp2.Match, error) {
	now := time.Now()
	if s.started.IsZero() {
		s.started = now
	}
	left := min(s.limit, s.limit+grace-now.Sub(s.started))
	if left <= 0 {
		return nil, errors.New("was not tried: others have taken all the time")
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

// setTick makes regexp2 look at the time often enough: its own interval is
// twice the limit.
var setTick = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(tick) })

func compiled(p *config.Pattern) (*regexp2.Regexp, error) {
	setTick()
	return regexp2.Compile(p.Expr, regexp2.IgnoreCase)
}

// Check reports what is wrong with a pattern.
func Check(p config.Pattern) error {
	_, err := compiled(&p)
	return err
}
