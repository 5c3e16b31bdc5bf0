package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/hook/sessionfile"
)

const (
	filePrefix = "docsearch-injected-"
	fileSuffix = ".tsv"
	// lockWait is longer than any deadline of the hook, which ends the process
	// sooner.
	lockWait = 2 * config.MaxTimeoutMS * time.Millisecond
	// maxFile limits the size of a session's file. A session that reaches it is shown no
	// more notes.
	maxFile = 1 << 20
	// retention is how long the file of an unused session is kept.
	retention = 30 * 24 * time.Hour
	// duplicateWindow is the time in which a second reset of a context counts as the same
	// one: a hook that is installed in two places is called twice.
	duplicateWindow = 10 * time.Second
)

// A Store records the items that sessions were shown, one file per session:
//
//	docsearch-injected-<session>.tsv
//
// Each record is a line that is appended and never changed, with fields separated by tabs:
//
//	microseconds since 1970
//	kind: "told", "begins" (a new context of an agent), "compacting", "ends"
//	the agent: empty for the main one, else the subagent's ID
//	event
//	tool, or the reason for the new context
//	database
//	key of the item
//	its length in bytes
//	its title
//
// Hooks run in parallel: each reads and appends while it holds the lock on the file.
type Store struct{ Dir string }

// A Record is a line of a session's file.
type Record struct {
	At       time.Time
	Kind     string
	Agent    string
	Event    string
	Tool     string
	Database string
	Key      string
	Bytes    int
	Title    string
}

const (
	kindShown      = "told"
	kindReset      = "begins"
	kindCompacting = "compacting"
	kindEnd        = "ends"
)

// ErrFull is returned if a session's file has reached maxFile.
var ErrFull = errors.New("the session record is full")

// Show returns the text of an injection, without the items that the agent has seen, and
// records the items in it.
func (s Store) Show(session, agent string, now time.Time, o *Injection) (string, error) {
	lock, err := filelock.AcquireMkdir(s.Dir, s.path(session), lockWait)
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	data, err := read(lock.File())
	if err != nil {
		return "", err
	}
	records := parse(data)
	base := Record{At: now, Agent: agent, Event: o.Event, Tool: o.Tool}
	var added []Record
	note := func(kind string) {
		r := base
		r.Kind = kind
		added = append(added, r)
	}
	switch {
	case o.ContextReset != "" && !resetRecorded(records, agent, o, now):
		base.Tool = o.ContextReset
		note(kindReset)
		records = append(records, added...)
	case o.Compacting:
		note(kindCompacting)
	case o.SessionEnds:
		note(kindEnd)
	}
	if data == "" { // clean here, because not every host reports a session's end
		sessionfile.Clean(s.Dir, filePrefix, fileSuffix, now, retention)
	}
	text, given := o.Compose(Shown(records, agent))
	for _, item := range given {
		r := base
		r.Kind, r.Database, r.Key, r.Bytes, r.Title = kindShown, item.Database, item.Key, len(item.String()), item.Title
		added = append(added, r)
	}
	if len(added) == 0 {
		return "", nil
	}
	var lines []byte
	if data != "" && !strings.HasSuffix(data, "\n") {
		lines = append(lines, '\n') // after a partial line
	}
	for i := range added {
		lines = added[i].appendLine(lines)
	}
	_, err = lock.File().WriteAt(lines, int64(len(data)))
	if err != nil {
		return "", err
	}
	return text, nil
}

// resetRecorded reports whether this reset of the agent's context is already recorded. The
// hook may be called twice for one event, and two events report a compaction, the start of
// the session first.
func resetRecorded(records []Record, agent string, o *Injection, now time.Time) bool {
	if o.Event == "PostCompact" && !o.OnlyReport {
		for i := len(records) - 1; i >= 0; i-- {
			if r := &records[i]; r.Agent == agent && r.Kind != kindShown {
				return r.Kind != kindCompacting
			}
		}
		return true
	}
	for i := len(records) - 1; i >= 0; i-- {
		if r := &records[i]; r.Agent == agent && r.Kind == kindReset && r.Tool == o.ContextReset {
			return now.Sub(r.At) < duplicateWindow
		}
	}
	return false
}

// Shown returns a function that reports whether the agent was shown the item with a key
// since its context began.
func Shown(records []Record, agent string) func(key string) bool {
	known := map[string]bool{}
	for i := range records {
		switch r := &records[i]; {
		case r.Agent != agent:
		case r.Kind == kindReset:
			clear(known)
		case r.Kind == kindShown:
			known[r.Key] = true
		}
	}
	return func(key string) bool { return known[oneField(key)] }
}

// Read returns the records of a session, the oldest first.
func (s Store) Read(session string) ([]Record, error) {
	f, err := atomicfile.Open(s.path(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := read(f)
	return parse(data), err
}

// Sessions returns the names of the sessions with a file: their IDs, as file names.
func (s Store) Sessions() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), filePrefix); ok {
			if name, ok = strings.CutSuffix(name, fileSuffix); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func read(f *os.File) (string, error) {
	data, err := atomicfile.ReadAll(f, maxFile)
	if errors.Is(err, atomicfile.ErrTooLong) {
		err = fmt.Errorf("%s: %w", f.Name(), ErrFull)
	}
	return string(data), err
}

// parse parses the lines of a file and skips invalid ones.
func parse(data string) []Record {
	var records []Record
	for line := range strings.Lines(data) {
		line, whole := strings.CutSuffix(line, "\n")
		fields := strings.Split(line, "\t")
		if len(fields) != 9 || !whole {
			continue
		}
		at, err := strconv.ParseInt(fields[0], 10, 64)
		length, lengthErr := strconv.Atoi(fields[7])
		if err != nil || lengthErr != nil {
			continue
		}
		records = append(records, Record{
			At: time.UnixMicro(at), Kind: fields[1], Agent: fields[2], Event: fields[3], Tool: fields[4],
			Database: fields[5], Key: fields[6], Bytes: length, Title: fields[8],
		})
	}
	return records
}

func (r *Record) appendLine(b []byte) []byte {
	b = strconv.AppendInt(b, r.At.UnixMicro(), 10)
	for _, field := range [...]string{r.Kind, r.Agent, r.Event, r.Tool, r.Database, r.Key, strconv.Itoa(r.Bytes),
		r.Title} {
		b = append(b, '\t')
		b = append(b, oneField(field)...)
	}
	return append(b, '\n')
}

// oneField replaces the control characters in s, which would end a field.
func oneField(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// path returns the path of a session's file.
func (s Store) path(session string) string {
	return config.Join(s.Dir, sessionfile.Name(filePrefix, session, fileSuffix))
}
