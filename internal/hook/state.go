package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/filelock"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
	"github.com/docsearch/docsearch/internal/hook/sessionfile"
)

const (
	// remembered is how long a denial opens the way for its repetition.
	remembered = 5 * time.Minute
	// skew is how far ahead of this clock another process's may be.
	skew = 5 * time.Second
	// maxDenials bounds what one session remembers. Calls run in parallel, so
	// the last denial alone would not do.
	maxDenials = 32

	statePrefix = "docsearch-state-"
	stateSuffix = ".json"
	lockName    = "docsearch-state.lock"
	maxState    = 4 << 20
	lockWait    = 500 * time.Millisecond
)

// A State is what the hook remembers of a session.
type State struct {
	Last      *Denial   // nil once its repetition has passed
	Earlier   []Denial  // the oldest first
	Consulted time.Time // when the local documentation was last searched
}

// A Call is one that goes to the web: a search or a fetch.
type Call struct {
	event.Search
	event.Fetch
}

// A Denial is a call that was denied.
type Denial struct {
	Call
	At time.Time
}

// denial finds the denial that the call repeats.
func (s *State) denial(c Call, now time.Time) (Denial, bool) {
	if s.Last != nil && s.Last.valid(now) && s.Last.same(c) {
		return *s.Last, true
	}
	for _, d := range s.Earlier {
		if d.valid(now) && d.same(c) {
			return d, true
		}
	}
	return Denial{}, false
}

func (d *Denial) valid(now time.Time) bool {
	age := now.Sub(d.At)
	return age < remembered && age > -skew
}

// same reports whether two calls are the same: the texts to the letter, the
// domains in any order.
func (c *Call) same(as Call) bool {
	return c.Query == as.Query && c.Fetch == as.Fetch && sameSet(c.Allowed, as.Allowed) && sameSet(c.Blocked, as.Blocked)
}

func sameSet(a, b []string) bool {
	return containsAll(a, b) && containsAll(b, a)
}

func containsAll(set, of []string) bool {
	for _, s := range of {
		if !slices.Contains(set, s) {
			return false
		}
	}
	return true
}

// A Change is what a decision does to the session's state.
type Change struct {
	Deny    *Call // remember a denial
	Permit  *Call // forget it, since its repetition passes
	Consult bool  // the local documentation is being searched
}

func (c Change) empty() bool { return c == Change{} }

// apply is the state after the change.
func (s State) apply(c Change, now time.Time) State {
	s.forget(func(d Denial) bool { return !d.valid(now) })
	if c.Permit != nil {
		s.forget(func(d Denial) bool { return d.same(*c.Permit) })
	}
	if c.Deny != nil {
		s.forget(func(d Denial) bool { return d.same(*c.Deny) })
		if s.Last != nil {
			s.Earlier = append(s.Earlier, *s.Last)
		}
		s.Last = &Denial{*c.Deny, now}
		if over := len(s.Earlier) + 1 - maxDenials; over > 0 {
			s.Earlier = s.Earlier[over:]
		}
	}
	if c.Consult {
		s.Consulted = now
	}
	if s.empty() {
		s.Consulted = time.Time{}
	}
	return s
}

func (s *State) forget(which func(Denial) bool) {
	if s.Last != nil && which(*s.Last) {
		s.Last = nil
	}
	s.Earlier = slices.DeleteFunc(slices.Clone(s.Earlier), which)
}

func (s *State) empty() bool { return s.Last == nil && len(s.Earlier) == 0 }

// A Store keeps the states of sessions, each in a file of its own:
//
//	docsearch-state-<session>.json
//	  {"last_denied": {"query": "…", "allowed_domains": […], "blocked_domains": […], "timestamp": 1763635277.25},
//	   "earlier": [older denials, the oldest first], "consulted": 1763635280.5}
//
// The denial of a fetch has "url" and "prompt" in place of a search's fields.
// Without a denial that is {"last_denied": null}. A session id that is not
// its own file name, because characters had to be replaced or left out, has
// its state in "sessions", by its full id, so that ids that come to the same
// file name stay apart. All files are written whole, under one lock.
type Store struct{ Dir string }

// Read returns the state of a session. A damaged file is an error that wraps
// ErrDamaged.
func (s Store) Read(session string) (State, error) {
	name, own := stateName(session)
	path := config.Join(s.Dir, name)
	if runtime.GOOS == "windows" {
		// There, nobody can replace the file while somebody reads it.
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return State{}, nil
		}
		lock, err := s.lock()
		if err != nil {
			return State{}, err
		}
		defer lock.Unlock()
	}
	f, err := readState(path)
	if err != nil {
		return State{}, err
	}
	return f.session(session, own), nil
}

// Update applies a change to the state of a session, and removes the files
// that no session needs any more. A damaged file is replaced.
func (s Store) Update(session string, c Change, now time.Time) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	lock, err := s.lock()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	sessionfile.Clean(s.Dir, statePrefix, stateSuffix, now, remembered)
	name, own := stateName(session)
	path := config.Join(s.Dir, name)
	f, err := readState(path)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	f.setSession(session, own, f.session(session, own).apply(c, now))
	return atomicfile.WriteCache(path, f.encode(), 0o600)
}

func (s Store) lock() (*filelock.Lock, error) {
	return filelock.Acquire(config.Join(s.Dir, lockName), lockWait)
}

// stateName is the name of a session's file; own reports whether no other
// session can have the same.
func stateName(session string) (name string, own bool) {
	name, own = sessionfile.Safe(session)
	return statePrefix + name + stateSuffix, own
}

// ErrDamaged is wrapped by the error about a state file that is none.
var ErrDamaged = errors.New("damaged state")

// A stateFile is a state file's contents.
type stateFile struct {
	State
	sessions map[string]State // of ids that are not their own file names
}

func readState(path string) (stateFile, error) {
	f, err := atomicfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stateFile{}, nil
	}
	if err != nil {
		return stateFile{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return stateFile{}, err
	}
	if len(data) > maxState {
		return stateFile{}, fmt.Errorf("%s: %w: longer than any", path, ErrDamaged)
	}
	s, err := parseState(data)
	if err != nil {
		return stateFile{}, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return s, nil
}

func parseState(data []byte) (f stateFile, err error) {
	fields, err := rawjson.Object(data)
	if err != nil {
		return f, err
	}
	if f.State, err = stateOf(fields); err != nil {
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
			if f.sessions[s.Name], err = stateOf(fields); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

func stateOf(fields rawjson.Fields) (s State, err error) {
	s.Consulted = timeOf(fields, "consulted")
	if v := fields.Raw("last_denied"); v != nil {
		last, err := denialOf(v)
		if err != nil {
			return s, err
		}
		s.Last = &last
	}
	if v := fields.Raw("earlier"); v != nil {
		items, err := rawjson.List(v)
		if err != nil {
			return s, err
		}
		for _, item := range items {
			d, err := denialOf(item)
			if err != nil {
				return s, err
			}
			s.Earlier = append(s.Earlier, d)
		}
	}
	return s, nil
}

func denialOf(v []byte) (Denial, error) {
	fields, err := rawjson.Object(v)
	if err != nil {
		return Denial{}, err
	}
	return Denial{
		Call{
			event.Search{Query: fields.String("query"), Allowed: fields.Strings("allowed_domains"), Blocked: fields.Strings("blocked_domains")},
			event.Fetch{URL: fields.String("url"), Prompt: fields.String("prompt")},
		},
		timeOf(fields, "timestamp"),
	}, nil
}

// timeOf is a time in seconds since 1970, as other tools that know the file
// write it: whole or with a fraction, as a number or in a string. Any other
// value is the zero time.
func timeOf(fields rawjson.Fields, name string) time.Time {
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
	o := f.State.object()
	if len(f.sessions) > 0 {
		ids := make([]string, 0, len(f.sessions))
		for id := range f.sessions {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		var sessions rawjson.Writer
		for _, id := range ids {
			s := f.sessions[id]
			o := s.object()
			sessions.Raw(id, o.End())
		}
		o.Raw("sessions", sessions.End())
	}
	return o.End()
}

func (s *State) object() (o rawjson.Writer) {
	last := []byte("null")
	if s.Last != nil {
		last = s.Last.encode()
	}
	o.Raw("last_denied", last)
	if len(s.Earlier) > 0 {
		b := []byte{'['}
		for i, d := range s.Earlier {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, d.encode()...)
		}
		o.Raw("earlier", append(b, ']'))
	}
	if !s.Consulted.IsZero() {
		o.Raw("consulted", appendTime(nil, s.Consulted))
	}
	return o
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
	return o.End()
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, '0')
	}
	return strconv.AppendFloat(b, float64(t.UnixMicro())/1e6, 'f', -1, 64)
}
