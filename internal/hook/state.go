package hook

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// retryWindow is the time after a denial in which a repeated call counts as its retry.
	retryWindow = 5 * time.Minute
	// clockSkew is how far ahead of this process's clock another one's may be.
	clockSkew = 5 * time.Second
	// burstWindow extends a group of equal parallel calls, because a client may start
	// their hooks one by one. A model takes longer to read a denial and send a retry.
	burstWindow = 100 * time.Millisecond
	// concurrentWindow is the maximum delay between the starts of two hooks for one tool
	// use on a busy machine.
	concurrentWindow = time.Second
	// maxDenials and maxPassed limit the calls kept for a session, far above the number of
	// calls in retryWindow.
	maxDenials = 1000
	maxPassed  = 100
	maxUses    = 64 // IDs of one call
	// maxStateText limits the total size of a list of calls in bytes, see Denial.size.
	maxStateText = 1 << 20

	maxStateFile = 4 << 20
)

// A State is the hook's memory of a session. Both lists are in order of time, the newest
// last.
type State struct {
	Denied    []Denial  // calls that were denied and run if they are sent again
	Passed    []Denial  // denied calls that were sent again and ran
	Consulted time.Time // when the main agent last searched the local documentation
}

// A Call is a web search or a fetch and the agent that makes it. An equal call of another
// agent is not a retry.
type Call struct {
	Agent string // empty: the main agent
	event.Search
	event.Fetch
}

// A Denial is a call that was denied.
type Denial struct {
	Call
	At        time.Time // when the hook last decided about the call
	Databases []string  // names of the databases that the denial refers to
	// Uses are the IDs of the denied tool uses, Retries those of the tool uses that ran.
	// Both are empty for clients that send no IDs.
	Uses    []string
	Retries []string
	// Unread is set in a call that ran so soon after its denial that it may have been a
	// late copy of the hook that denied it. The agent's own retry must still run.
	Unread bool
	// Transcript is the size of the session's transcript then, in bytes; 0 if
	// it is not known or not needed.
	Transcript int64
	// Shown are the passages in the denial, and Code is its code for the search tool. Both
	// are empty if the agent may not have seen passages.
	Shown passage.Shown
	Code  string
}

// An Attempt is a call as one hook process sees it.
type Attempt struct {
	Call
	Use     string    // id of the tool use; empty if the client sends none
	Started time.Time // of the process; zero if unknown
	// Transcript is the size of the session's transcript, in bytes, for clients
	// that send no ids; else 0.
	Transcript int64
}

// An AttemptKind classifies an attempt by the session's state.
type AttemptKind int

const (
	NewCall           AttemptKind = iota // not in the state
	Retry                                // an agent sends a denied call again
	DuplicateOfDenied                    // another hook has denied this attempt, or a parallel equal one
	DuplicateOfPassed                    // another hook has passed this attempt, or a parallel equal one
)

// classify returns the kind of an attempt, and the earlier denial unless the call is new.
//
// A client may run two copies of the hook for one tool use, and an agent may send equal
// calls in parallel. Neither is a retry, which an agent can send only after it has read
// the denial. Copies of the hook share the ID of the tool use. Without an ID, a call is a
// retry if the transcript has grown since the denial or the agent has consulted the local
// documentation (a subagent's messages are not in the transcript). In both cases, a hook
// that started before the last decision about the call belongs to that decision. Without
// ID and transcript, so does one that starts within concurrentWindow of a call that ran.
func (s *State) classify(a Attempt, now time.Time) (Denial, AttemptKind) {
	for _, d := range s.Passed {
		if d.valid(now) && d.same(a.Call) {
			switch {
			case a.Use != "" && slices.Contains(d.Uses, a.Use):
				return d, DuplicateOfDenied
			case a.Use != "" && slices.Contains(d.Retries, a.Use), s.concurrent(&d, a, d.Retries), a.soonAfter(d.At):
				return d, DuplicateOfPassed
			case d.Unread && a.Use == "":
				return d, Retry
			}
		}
	}
	for _, d := range s.Denied {
		if d.valid(now) && d.same(a.Call) {
			if a.Use != "" && slices.Contains(d.Uses, a.Use) || s.concurrent(&d, a, d.Uses) {
				return d, DuplicateOfDenied
			}
			return d, Retry
		}
	}
	return Denial{}, NewCall
}

// concurrent reports whether the attempt's hook started before the last decision about the
// call. If there are several IDs, burstWindow is added.
func (s *State) concurrent(d *Denial, a Attempt, ids []string) bool {
	unread := a.Transcript > 0 && a.Transcript == d.Transcript && !s.Consulted.After(d.At)
	if a.Use == "" && unread && a.Started.Sub(d.At) < concurrentWindow {
		return true
	}
	end := d.At
	if len(ids) > 1 {
		end = end.Add(burstWindow)
	}
	return !a.Started.IsZero() && !a.Started.After(end)
}

// soonAfter reports whether the attempt may belong to a call that was decided at a time.
// Without an ID and a transcript, only the clock can show that.
func (a *Attempt) soonAfter(at time.Time) bool {
	return a.Use == "" && a.Transcript == 0 && !a.Started.IsZero() && a.Started.Sub(at) < concurrentWindow
}

func (d *Denial) valid(now time.Time) bool {
	age := now.Sub(d.At)
	return age < retryWindow && age > -clockSkew
}

// same reports whether two calls are equal: the same texts, and the same domains in any
// order.
func (c *Call) same(as Call) bool {
	return c.Agent == as.Agent && c.Query == as.Query && c.Fetch == as.Fetch && sameSet(c.Allowed, as.Allowed) &&
		sameSet(c.Blocked, as.Blocked)
}

func sameSet(a, b []string) bool { return containsAll(a, b) && containsAll(b, a) }

func containsAll(set, of []string) bool {
	return !slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(set, s) })
}

// size returns the approximate size of the denial in the state file, in bytes.
func (d *Denial) size() int {
	const fingerprint = 24 // with its quotes
	n := len(d.Query) + len(d.URL) + len(d.Prompt) + len(d.Shown)*fingerprint
	for _, list := range [...][]string{d.Allowed, d.Blocked, d.Databases, d.Uses, d.Retries} {
		for _, s := range list {
			n += len(s) + 4
		}
	}
	return n
}

// A Change is the effect of a decision on the session's state.
type Change struct {
	Attempt   Attempt
	Databases []string // names of the databases that the denial, or the retried denial, refers to
	Deny      bool     // the attempt is denied
	Permit    bool     // the attempt is a retry that runs
	Consult   bool     // the main agent searches the local documentation
	Forget    bool     // the agents no longer have the shown passages
	Code      string   // of the denial, see Denial
	Shown     passage.Shown
}

func (c *Change) empty() bool { return !c.Deny && !c.Permit && !c.Consult && !c.Forget }

// apply returns the state after the change. duplicate is true if the change denies an
// attempt that a faster hook has already denied.
func (s State) apply(c Change, now time.Time) (after State, duplicate bool) {
	stale := func(d Denial) bool { return !d.valid(now) }
	s.Denied = slices.DeleteFunc(slices.Clone(s.Denied), stale)
	s.Passed = slices.DeleteFunc(slices.Clone(s.Passed), stale)
	if c.Deny || c.Permit {
		before, known := s.classify(c.Attempt, now)
		duplicate = c.Deny && known == DuplicateOfDenied
		same := func(d Denial) bool { return d.same(c.Attempt.Call) }
		s.Denied = slices.DeleteFunc(s.Denied, same)
		s.Passed = slices.DeleteFunc(s.Passed, same)
		d := Denial{Call: c.Attempt.Call, At: now, Databases: c.Databases, Transcript: c.Attempt.Transcript,
			Shown: c.Shown, Code: c.Code}
		if known != NewCall {
			d.Uses, d.Retries = slices.Clip(before.Uses), slices.Clip(before.Retries)
		}
		if known == DuplicateOfDenied || c.Permit { // the passages came with the first denial
			d.Shown, d.Code = before.Shown, before.Code
		}
		if (known == DuplicateOfDenied || known == DuplicateOfPassed) && c.Attempt.Started.After(before.At) {
			d.At = before.At // otherwise parallel calls could extend a burst without limit
		}
		switch {
		case c.Deny && known == Retry: // a retry without the required evidence
			d.Uses = appendUse(nil, c.Attempt.Use)
			s.Denied = append(s.Denied, d)
		case c.Permit:
			d.Retries = appendUse(d.Retries, c.Attempt.Use)
			d.Unread = known == DuplicateOfPassed && before.Unread || known == Retry && c.Attempt.soonAfter(before.At)
			s.Passed = append(s.Passed, d)
		default:
			d.Uses = appendUse(d.Uses, c.Attempt.Use)
			s.Denied = append(s.Denied, d)
		}
	}
	s.Denied = newestDenials(s.Denied, maxDenials)
	s.Passed = newestDenials(s.Passed, maxPassed)
	if c.Forget {
		s.Denied, s.Passed = forget(s.Denied), forget(s.Passed)
	}
	if c.Consult {
		s.Consulted = now
	}
	if len(s.Denied) == 0 {
		s.Consulted = time.Time{}
	}
	return s, duplicate
}

// appendUse appends the ID of a tool use, and drops the oldest beyond maxUses.
func appendUse(list []string, use string) []string {
	if use == "" || slices.Contains(list, use) {
		return list
	}
	return append(list[max(0, len(list)+1-maxUses):], use)
}

// newestDenials returns the newest entries of a list, at most limit and at most maxStateText
// bytes.
func newestDenials(list []Denial, limit int) []Denial {
	size := 0
	for i := len(list) - 1; i >= 0; i-- {
		if size += list[i].size(); len(list)-i > limit || size > maxStateText && i < len(list)-1 {
			return list[i+1:]
		}
	}
	return list
}

// ErrCorrupt is wrapped by the error for a state file that cannot be parsed.
var ErrCorrupt = errors.New("corrupt state")

// A stateFile holds the contents of a state file.
type stateFile struct {
	State
	sessions map[string]State // by ID, for IDs that are not valid file names
}

func parseState(data []byte) (f stateFile, err error) {
	fields, err := rawjson.Object(data)
	if err != nil {
		return f, err
	}
	if f.State, err = parseSession(fields); err != nil {
		return f, err
	}
	if v := fields.Raw("sessions"); v != nil {
		sessions, err := rawjson.Object(v)
		if err != nil {
			return f, err
		}
		f.sessions = make(map[string]State, len(sessions))
		for _, s := range sessions {
			fields, err := rawjson.Object(s.Value)
			if err != nil {
				return f, err
			}
			if f.sessions[s.Name], err = parseSession(fields); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

func parseSession(fields rawjson.Fields) (s State, err error) {
	s.Consulted = parseTime(fields, "consulted")
	if s.Denied, err = parseDenials(fields.Raw("earlier")); err != nil {
		return s, err
	}
	if v := fields.Raw("last_denied"); v != nil {
		last, err := parseDenial(v)
		if err != nil {
			return s, err
		}
		s.Denied = append(s.Denied, last)
	}
	s.Passed, err = parseDenials(fields.Raw("passed"))
	return s, err
}

// parseDenials parses a list of denials. A missing list is empty.
func parseDenials(v []byte) ([]Denial, error) {
	if v == nil {
		return nil, nil
	}
	items, err := rawjson.List(v)
	if err != nil {
		return nil, err
	}
	list := make([]Denial, len(items))
	for i, item := range items {
		if list[i], err = parseDenial(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func parseDenial(v []byte) (Denial, error) {
	fields, err := rawjson.Object(v)
	if err != nil {
		return Denial{}, err
	}
	return Denial{
		Call: Call{
			fields.String("agent"),
			event.Search{Query: fields.String("query"), Allowed: fields.Strings("allowed_domains"),
				Blocked: fields.Strings("blocked_domains")},
			event.Fetch{URL: fields.String("url"), Prompt: fields.String("prompt")},
		},
		At:        parseTime(fields, "timestamp"),
		Databases: fields.Strings("databases"),
		Uses:      fields.Strings("tool_use_ids"),
		Retries:   fields.Strings("retry_ids"),

		Unread:     string(fields.Raw("unread")) == "true",
		Transcript: max(0, parseSize(fields, "transcript_bytes")),
		Code:       fields.String("code"),
		Shown:      parseShown(fields.Strings("shown")),
	}, nil
}

func parseSize(fields rawjson.Fields, name string) int64 {
	n, _ := strconv.ParseInt(fields.Text(name), 10, 64)
	return n
}

// parseTime parses a time in seconds since 1970. Other tools that write the file use an
// integer or a fraction, as a number or in a string. Any other value is the zero time.
func parseTime(fields rawjson.Fields, name string) time.Time {
	seconds, err := strconv.ParseFloat(fields.Text(name), 64)
	if err != nil || !(seconds > 0 && seconds < 1<<40) {
		return time.Time{}
	}
	return time.UnixMicro(int64(seconds*1e6 + 0.5))
}

func (f *stateFile) session(id string, own bool) State {
	if own {
		return f.State
	}
	return f.sessions[id]
}

func (f *stateFile) setSession(id string, own bool, s State) {
	switch {
	case own:
		f.State = s
	case s.empty():
		delete(f.sessions, id)
	default:
		if f.sessions == nil {
			f.sessions = map[string]State{}
		}
		f.sessions[id] = s
	}
}

func (f *stateFile) encode() []byte {
	o := f.State.writer()
	if len(f.sessions) > 0 {
		var sessions rawjson.Writer
		for _, id := range slices.Sorted(maps.Keys(f.sessions)) {
			s := f.sessions[id]
			o := s.writer()
			sessions.Raw(id, o.End())
		}
		o.Raw("sessions", sessions.End())
	}
	return o.End()
}

func (s *State) empty() bool {
	return len(s.Denied) == 0 && len(s.Passed) == 0 && s.Consulted.IsZero()
}

func (s *State) writer() (o rawjson.Writer) {
	last, earlier := []byte("null"), s.Denied
	if n := len(s.Denied); n > 0 {
		last, earlier = s.Denied[n-1].encode(), s.Denied[:n-1]
	}
	o.Raw("last_denied", last)
	encodeDenials(&o, "earlier", earlier)
	encodeDenials(&o, "passed", s.Passed)
	if !s.Consulted.IsZero() {
		o.Raw("consulted", appendTime(nil, s.Consulted))
	}
	return o
}

// encodeDenials adds a list of denials unless it is empty.
func encodeDenials(o *rawjson.Writer, key string, list []Denial) {
	if len(list) == 0 {
		return
	}
	b := []byte{'['}
	for i, d := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, d.encode()...)
	}
	o.Raw(key, append(b, ']'))
}

func (d *Denial) encode() []byte {
	var o rawjson.Writer
	if d.URL != "" {
		o.Text("url", d.URL)
		o.Text("prompt", d.Prompt)
	} else {
		o.Raw("query", rawjson.AppendString(nil, d.Query))
		o.Texts("allowed_domains", d.Allowed)
		o.Texts("blocked_domains", d.Blocked)
	}
	o.Raw("timestamp", appendTime(nil, d.At))
	o.Text("agent", d.Agent)
	for _, list := range [...]struct {
		key    string
		values []string
	}{{"databases", d.Databases}, {"tool_use_ids", d.Uses}, {"retry_ids", d.Retries}} {
		if len(list.values) > 0 {
			o.Texts(list.key, list.values)
		}
	}
	if d.Unread {
		o.Raw("unread", []byte("true"))
	}
	if d.Transcript > 0 {
		o.Raw("transcript_bytes", strconv.AppendInt(nil, d.Transcript, 10))
	}
	o.Text("code", d.Code)
	if len(d.Shown) > 0 {
		o.Texts("shown", encodeShown(d.Shown))
	}
	return o.End()
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, '0')
	}
	return strconv.AppendFloat(b, float64(t.UnixMicro())/1e6, 'f', -1, 64)
}
