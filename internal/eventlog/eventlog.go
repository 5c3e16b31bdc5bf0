// Package eventlog keeps what the hook did: a log on this machine, of limited
// size, that only "docsearch stats" reads.
//
// The log is text, a line for each event, in two files of a folder:
//
//	docsearch-events.log    the newest
//	docsearch-events.1.log  those before them
//
// A line is appended by one write to a file that is open for appending, which
// the system does not mix with the writes of other processes. When the first
// file would grow beyond MaxSize it takes the second one's place, under the
// lock docsearch-events.lock; so both together have at most about twice
// MaxSize, and the oldest events go first. Whoever cannot get that lock appends
// to what is there.
//
// A line is fields with a tab between each two, and ends with a newline:
//
//	checksum   [8] FNV-1a of all that follows the tab after it, without the
//	           newline, 32 bits in lower-case hexadecimal
//	version    "2", of the format of the line
//	time       milliseconds since 1970
//	host       "claude", "cursor", ...
//	event      "PreToolUse", "SessionStart", ...
//	tool       "WebSearch", ...; empty for an event without one
//	outcome    one of the constants below
//	bytes      size of the text added for the agent
//	rule       the name of the rule that decided; mostly empty
//	query      of a web search, its first MaxQuery bytes; empty unless
//	           hook.log_queries is on
//	databases  a field for each: those that had a say, or matched in vain
//
// In a field "\\" stands for a backslash, "\t" for a tab, "\n" for a newline and
// "\r" for a carriage return. For example:
//
//	9fcfe313	2	1767322445000	claude	PreToolUse	WebSearch	answered	5120			gitlab
//
// A line that is damaged, as the last one may be after a power failure, is left
// out and counted; so is a line of a version that is not known. The package
// imports little, because the hook writes the log (see package hook/startup).
package eventlog

import (
	"bytes"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
)

const (
	// MaxSize is how long a file of the log may be, in bytes: some twenty
	// thousand events.
	MaxSize = 2 << 20
	// MaxQuery is how much of a query is kept, in bytes.
	MaxQuery = 512
	// maxName is how much is kept of any other text.
	maxName = 256
	// maxLine is longer than any line.
	maxLine = 64 << 10
	// maxRead is how much of a file is read: none is longer, unless it is
	// another program's.
	maxRead = 4 * MaxSize
	// maxDatabases is how many databases of an event are kept.
	maxDatabases = 32

	version      = "2"
	currentFile  = "docsearch-events.log"
	previousFile = "docsearch-events.1.log"
	lockFile     = "docsearch-events.lock"
)

// An Outcome is what came of an event.
type Outcome string

const (
	Answered   Outcome = "answered"   // denied, with passages of a database
	Redirected Outcome = "redirected" // denied, with the search call
	Denied     Outcome = "denied"     // by a rule
	Prompted   Outcome = "prompted"   // a rule asked the user
	Context    Outcome = "context"    // ran as usual, with added context
	Allowed    Outcome = "allowed"    // call of docsearch's own tools
	Retried    Outcome = "retried"    // ran as usual, because it was denied before
	Unanswered Outcome = "unanswered" // a web search that no matching database answers
	Unmatched  Outcome = "unmatched"  // a web search that matches no database
)

// An Event is one that the hook did something about, or a web search that it
// let through.
type Event struct {
	At        time.Time
	Host      string
	Name      string
	Tool      string
	Outcome   Outcome
	Shown     int // bytes that the agent was given to read
	Rule      string
	Query     string
	Databases []string
}

// A Log is the log in a folder.
type Log struct{ Dir string }

// Append adds an event to the log.
func (l Log) Append(e *Event) error {
	path := config.Join(l.Dir, currentFile)
	line := appendLine(nil, e)
	switch st, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(l.Dir, 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return &fs.PathError{Op: "append", Path: path, Err: atomicfile.ErrNotRegular}
	case st.Size()+int64(len(line)) > MaxSize:
		err := l.rotate(path, len(line))
		if err != nil && st.Size() > MaxSize+MaxSize/2 {
			return err // who could not make room for so long will not
		}
	}
	// A link or a named pipe may have taken the file's place since.
	f, err := confined.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// rotate makes room for so many bytes more, unless somebody else has.
func (l Log) rotate(path string, more int) error {
	held, err := filelock.TryLock(config.Join(l.Dir, lockFile))
	if err != nil {
		return err
	}
	defer held.Unlock()
	st, err := os.Lstat(path)
	if err != nil || st.Size()+int64(more) <= MaxSize {
		return err
	}
	return os.Rename(path, config.Join(l.Dir, previousFile))
}

func appendLine(line []byte, e *Event) []byte {
	const room = "00000000\t"
	line = append(line, room+version+"\t"...)
	line = strconv.AppendInt(line, e.At.UnixMilli(), 10)
	for _, name := range [...]string{e.Host, e.Name, e.Tool, string(e.Outcome)} {
		line = appendField(line, name, maxName)
	}
	line = append(line, '\t')
	line = strconv.AppendInt(line, int64(e.Shown), 10)
	line = appendField(line, e.Rule, maxName)
	line = appendField(line, e.Query, MaxQuery)
	for _, name := range e.Databases[:min(len(e.Databases), maxDatabases)] {
		line = appendField(line, name, maxName)
	}
	copy(line, checksum(line[len(room):]))
	return append(line, '\n')
}

// appendField appends a tab and the first bytes of a text.
func appendField(line []byte, text string, most int) []byte {
	if len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most]
	}
	line = append(line, '\t')
	for i := range len(text) {
		switch c := text[i]; c {
		case '\\':
			line = append(line, `\\`...)
		case '\t':
			line = append(line, `\t`...)
		case '\n':
			line = append(line, `\n`...)
		case '\r':
			line = append(line, `\r`...)
		default:
			line = append(line, c)
		}
	}
	return line
}

func checksum(fields []byte) []byte {
	const digits = "0123456789abcdef"
	h := fnv.New32a()
	h.Write(fields)
	sum := h.Sum(make([]byte, 0, 4))
	text := make([]byte, 0, 8)
	for _, b := range sum {
		text = append(text, digits[b>>4], digits[b&15])
	}
	return text
}

// Read calls each with the events of the log, the oldest first, and returns how
// many lines of it are damaged. A log that is not there has no events.
func (l Log) Read(each func(e Event) error) (damaged int, err error) {
	first, second, err := l.open()
	if err != nil {
		return 0, err
	}
	for _, f := range []*os.File{second, first} {
		if f == nil {
			continue
		}
		defer f.Close()
		n, err := read(f, each)
		damaged += n
		if err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// open opens the two files; nil is one that is not there.
func (l Log) open() (first, second *os.File, err error) {
	for {
		if first, err = open(config.Join(l.Dir, currentFile)); err != nil {
			return nil, nil, err
		}
		if second, err = open(config.Join(l.Dir, previousFile)); err != nil {
			return nil, nil, errors.Join(err, closeFile(first))
		}
		same, err := sameFile(first, second)
		if !same && err == nil {
			return first, second, nil
		}
		// The first one took the other's place in the meantime.
		if err = errors.Join(err, closeFile(first), closeFile(second)); err != nil {
			return nil, nil, err
		}
	}
}

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

func sameFile(f, g *os.File) (bool, error) {
	if f == nil || g == nil {
		return false, nil
	}
	a, err := f.Stat()
	if err != nil {
		return false, err
	}
	b, err := g.Stat()
	return err == nil && os.SameFile(a, b), err
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// read calls each with the events in r.
func read(r io.Reader, each func(e Event) error) (damaged int, err error) {
	rest, err := io.ReadAll(io.LimitReader(r, maxRead))
	if err != nil {
		return 0, err
	}
	for len(rest) > 0 {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		if len(line) > maxLine {
			damaged++
			continue
		}
		e, err := parseLine(line)
		if err != nil {
			damaged++
			continue
		}
		if err := each(e); err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// parseLine reads a line with its newline.
func parseLine(line []byte) (Event, error) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	sum, rest, found := bytes.Cut(line, []byte("\t"))
	if !whole || !found || !bytes.Equal(sum, checksum(rest)) {
		return Event{}, errors.New("corrupt line")
	}
	var fields []string
	for field := range bytes.SplitSeq(rest, []byte("\t")) {
		fields = append(fields, unescape(field))
	}
	if fields[0] != version {
		return Event{}, errors.New("unsupported line version " + strconv.Quote(fields[0]) + ": want " + version)
	}
	const fixed = 9
	if len(fields) < fixed {
		return Event{}, errors.New("invalid line: " + strconv.Itoa(len(fields)) + " fields, want at least " + strconv.Itoa(fixed))
	}
	at, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Event{}, err
	}
	told, err := strconv.Atoi(fields[6])
	if err != nil {
		return Event{}, err
	}
	return Event{
		At: time.UnixMilli(at), Host: fields[2], Name: fields[3], Tool: fields[4], Outcome: Outcome(fields[5]),
		Shown: told, Rule: fields[7], Query: fields[8], Databases: fields[fixed:len(fields):len(fields)],
	}, nil
}

// unescape gives a field its text back. A backslash before anything else stands
// for itself.
func unescape(field []byte) string {
	text := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c == '\\' && i+1 < len(field) {
			switch field[i+1] {
			case '\\':
				i++
			case 't':
				c, i = '\t', i+1
			case 'n':
				c, i = '\n', i+1
			case 'r':
				c, i = '\r', i+1
			}
		}
		text = append(text, c)
	}
	return string(text)
}
