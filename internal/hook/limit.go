package hook

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/sessionfile"
)

const (
	denialsPrefix = "docsearch-routed-"
	denialsSuffix = ".txt"
	// denialsRetention is how long the file of a session is kept after its last denial.
	denialsRetention = 30 * 24 * time.Hour
	// maxDenialsFile is the maximum size of such a file in bytes, far above any rule's
	// limit.
	maxDenialsFile = 1 << 20
)

// applyLimit turns a denial into a warning if its rule has reached its limit for the
// session. It does the same if the denials cannot be counted, because uncounted denials
// would never end.
func (p *Process) applyLimit(d *Decision, e event.Event, store Store) {
	if d.Verdict != Deny || d.Rule == nil || d.Rule.Limit == 0 {
		return
	}
	n, err := 0, errors.New("the state folder is not known")
	if store.Dir != "" {
		n, err = store.countDenial(e.Session, d.Rule.Name, e.Use, p.Now())
	}
	switch {
	case err != nil:
		d.fault("rule %s: cannot count denials: %v; the rule only warns", d.Rule.Name, err)
	case n <= d.Rule.Limit:
		d.Trace = append(d.Trace, fmt.Sprintf("denial %d of at most %d", n, d.Rule.Limit))
		return
	default:
		d.Trace = append(d.Trace, fmt.Sprintf("pass: the rule has denied %d calls of the session", d.Rule.Limit))
	}
	d.Verdict, d.Reason, d.Context, d.Message = Pass, "", cut(d.Reason, maxContext), ""
}

// countDenial records a rule's denial of a call and returns the rule's number of denials
// in the session. A session's file has one line per denial: the quoted rule name, then, if
// the tool use has an ID, a tab and the quoted ID. A second copy of the hook does not
// count again.
func (s Store) countDenial(session, rule, use string, now time.Time) (int, error) {
	lock, err := s.lock()
	if err != nil {
		return 0, err
	}
	defer lock.Unlock()
	f, err := confined.OpenFile(config.Join(s.Dir, sessionfile.Name(denialsPrefix, session, denialsSuffix)),
		os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	data, err := atomicfile.ReadAll(f, maxDenialsFile)
	if err != nil {
		return 0, err
	}
	if len(data) == 0 {
		sessionfile.Clean(s.Dir, denialsPrefix, denialsSuffix, now, denialsRetention)
	}
	line := []byte(strconv.Quote(rule))
	if use != "" {
		line = append(line, "\t"+strconv.Quote(use)...)
	}
	n := 1
	for before := range bytes.Lines(data) {
		before = bytes.TrimSuffix(before, []byte("\n"))
		if name, _, _ := bytes.Cut(before, []byte("\t")); string(name) != strconv.Quote(rule) {
			continue
		}
		if use != "" && bytes.Equal(before, line) {
			return n, nil
		}
		n++
	}
	_, err = f.Write(append(line, '\n'))
	return n, err
}
