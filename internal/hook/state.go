package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/filelock"
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
	maxName     = 120 // of the session in a file name
	lockWait    = 250 * time.Millisecond
)

// A State is what the hook remembers of a session.
type State struct {
	Last      *Denial   // nil once its repetition has passed
	Earlier   []Denial  // the oldest first
	Consulted time.Time // when the local documentation was last searched
}

// A Denial is a web search that was denied.
type Denial struct {
	Search
	At time.Time
}

// denial finds the denial that the search repeats.
func (s *State) denial(search Search, now time.Time) (Denial, bool) {
	if s.Last != nil && s.Last.valid(now) && s.Last.same(search) {
		return *s.Last, true
	}
	for _, d := range s.Earlier {
		if d.valid(now) && d.same(search) {
			return d, true
		}
	}
	return Denial{}, false
}

func (d *Denial) valid(now time.Time) bool {
	age := now.Sub(d.At)
	return age < remembered && age > -skew
}

// same reports whether two searches are the same: the query to the letter,
// the domains in any order.
func (d *Denial) same(s Search) bool {
	return d.Query == s.Query && sameSet(d.Allowed, s.Allowed) && sameSet(d.Blocked, s.Blocked)
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
	Deny    *Search // remember a denial
	Permit  *Search // forget it, since its repetition passes
	Consult bool    // the local documentation is being searched
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
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	// Only Windows needs the lock: there, nobody can replace the file while
	// somebody reads it.
	lock, err := s.lock()
	if err != nil {
		return State{}, err
	}
	defer lock.Unlock()
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
	s.removeStale(now)
	name, own := stateName(session)
	path := config.Join(s.Dir, name)
	f, err := readState(path)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	f.setSession(session, own, f.session(session, own).apply(c, now))
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return atomicfile.WriteCache(path, data, 0o600)
}

func (s Store) lock() (*filelock.Lock, error) {
	return filelock.Acquire(config.Join(s.Dir, lockName), lockWait)
}

func (s Store) removeStale(now time.Time) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), statePrefix) || !strings.HasSuffix(e.Name(), stateSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > remembered {
			os.Remove(config.Join(s.Dir, e.Name()))
		}
	}
}

// stateName is the name of a session's file; own reports whether no other
// session can have the same.
func stateName(session string) (name string, own bool) {
	var b strings.Builder
	own = true
	for _, r := range session {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
			own = false
		}
	}
	name = b.String()
	if len(name) > maxName {
		h := fnv.New64a()
		h.Write([]byte(session))
		name, own = fmt.Sprintf("%s-%016x", name[:maxName-17], h.Sum64()), false
	}
	return statePrefix + name + stateSuffix, own
}

// ErrDamaged is wrapped by the error about a state file that is none.
var ErrDamaged = errors.New("damaged state")

// stateFile is a state file's contents.
type stateFile struct {
	sessionState
	Sessions map[string]sessionState `json:"sessions,omitempty"`
}

type sessionState struct {
	Last      *denialRecord  `json:"last_denied"`
	Earlier   []denialRecord `json:"earlier,omitempty"`
	Consulted stamp          `json:"consulted,omitempty"`
}

type denialRecord struct {
	Query   string   `json:"query"`
	Allowed []string `json:"allowed_domains"`
	Blocked []string `json:"blocked_domains"`
	At      stamp    `json:"timestamp"`
}

// A stamp is a time in seconds since 1970, as other tools that know the file
// write it: whole or with a fraction, as a number or in a string.
type stamp float64

func (s *stamp) UnmarshalJSON(data []byte) error {
	var v json.Number
	if err := json.Unmarshal(data, &v); err != nil {
		*s = 0
		return nil
	}
	f, err := v.Float64()
	if err != nil || f < 0 || f > 1<<40 {
		f = 0
	}
	*s = stamp(f)
	return nil
}

func stampOf(t time.Time) stamp {
	if t.IsZero() {
		return 0
	}
	return stamp(float64(t.UnixMicro()) / 1e6)
}

func (s stamp) time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(float64(s)*1e6 + 0.5))
}

func readState(path string) (stateFile, error) {
	f, err := os.Open(path)
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

func parseState(data []byte) (stateFile, error) {
	var s stateFile
	err := json.Unmarshal(data, &s)
	if err != nil {
		return stateFile{}, err
	}
	return s, nil
}

func (f *stateFile) session(id string, own bool) State {
	s := f.sessionState
	if !own {
		s = f.Sessions[id]
	}
	state := State{Consulted: s.Consulted.time()}
	for _, r := range s.Earlier {
		state.Earlier = append(state.Earlier, r.denial())
	}
	if s.Last != nil {
		last := s.Last.denial()
		state.Last = &last
	}
	return state
}

func (f *stateFile) setSession(id string, own bool, state State) {
	s := sessionState{Consulted: stampOf(state.Consulted)}
	for _, d := range state.Earlier {
		s.Earlier = append(s.Earlier, recordOf(d))
	}
	if state.Last != nil {
		last := recordOf(*state.Last)
		s.Last = &last
	}
	switch {
	case own:
		f.sessionState = s
	case state.empty():
		delete(f.Sessions, id)
	default:
		if f.Sessions == nil {
			f.Sessions = map[string]sessionState{}
		}
		f.Sessions[id] = s
	}
}

func recordOf(d Denial) denialRecord {
	return denialRecord{d.Query, notNil(d.Allowed), notNil(d.Blocked), stampOf(d.At)}
}

func (r *denialRecord) denial() Denial {
	return Denial{Search{r.Query, r.Allowed, r.Blocked}, r.At.time()}
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
