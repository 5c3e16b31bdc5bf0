// Package eventlog keeps a log of the hook's decisions: local, of limited size, and read
// only by "docsearch stats", "docsearch web" and the adaption of thresholds.
//
// The log is text, one line per event, in two files of a folder:
//
//	docsearch-events.log    the newest events
//	docsearch-events.1.log  the events before them
//
// A line is appended by one write to a file opened for appending, which the system does
// not interleave with the writes of other processes. When the first file would grow beyond
// MaxSize it replaces the second one, under the lock docsearch-events.lock. Both together
// have at most about twice MaxSize, and the oldest events are dropped first. A process
// that cannot get the lock appends to the current file.
//
// The fields of a line are separated by tabs, and the line ends with a newline:
//
//	checksum   [8] FNV-1a of everything after the tab that follows it, without the
//	           newline, 32 bits in lower-case hexadecimal
//	version    "4", of the format of the line
//	time       milliseconds since 1970
//	host       "claude", "cursor", ...
//	session    [8] Checksum of the session and the agent
//	call       [8] of a denial and its retry: Checksum of the session, the agent and the
//	           call; empty if the host sends no session, whose ID keeps others from
//	           guessing the call
//	event      "PreToolUse", "SessionStart", ...
//	tool       "WebSearch", ...; empty for an event without one
//	outcome    one of the constants below
//	bytes      size of the text added for the agent
//	rule       the name of the rule that decided; mostly empty
//	query      of a web search, its first MaxQuery bytes; empty unless
//	           hook.log_queries is on, and spaces once it is removed (see
//	           ForgetQueries)
//	page       the heading of the passage that answered best, like query; version 3 has none
//	databases  two fields each: the name of a database that answered, that a denial named
//	           before the retry, or that matched in vain; and the confidence in its best
//	           passage, with three decimals, or nothing if it was not searched
//
// In a field "\\" encodes a backslash, "\t" a tab, "\n" a newline and "\r" a carriage
// return. For example:
//
//	f2aebc3e	4	1767322445000	claude	9b2c7652	f3cf225b	PreToolUse	WebSearch	answered	5120				gitlab	0.871
//
// Corrupt lines, such as the last one after a power failure, are skipped and counted. So are
// lines of a version other than these two. The package imports little, because the hook writes the log (see
// package hook/startup).
package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
)

const (
	// MaxSize is the maximum size of a log file in bytes: about twenty thousand events.
	MaxSize = 2 << 20
	// MaxQuery limits a logged query in bytes.
	MaxQuery = 512
	// maxName limits any other logged text.
	maxName = 256
	// maxLine is longer than any valid line.
	maxLine = 64 << 10
	// maxRead limits the part of a file that is read. Only another program's file is
	// longer.
	maxRead = 4 * MaxSize
	// maxDatabases limits the logged databases of an event.
	maxDatabases = 32

	version      = "4"
	noPages      = "3" // the version before, whose lines have no page
	currentFile  = "docsearch-events.log"
	previousFile = "docsearch-events.1.log"
	lockFile     = "docsearch-events.lock"
)

// An Outcome is the result of an event.
type Outcome string

const (
	Answered   Outcome = "answered"   // denied, with passages of a database
	Redirected Outcome = "redirected" // denied, with the search call
	Denied     Outcome = "denied"     // by a rule
	Prompted   Outcome = "prompted"   // a rule asked the user
	Context    Outcome = "context"    // ran as usual, with added context
	Allowed    Outcome = "allowed"    // call of docsearch's own tools
	Consulted  Outcome = "consulted"  // ran as usual: searches or reads local documentation by other means
	Retried    Outcome = "retried"    // ran as usual, because it was denied before
	Unanswered Outcome = "unanswered" // a web search that no matching database answers
	Unmatched  Outcome = "unmatched"  // a web search that matches no database
)

// An Event is an event that the hook acted on, or a web search that ran as usual.
type Event struct {
	At        time.Time
	Host      string
	Session   string // Checksum of the session and the agent; empty if unknown
	Call      string // Checksum of a call that was denied, or retried; empty if unknown
	Name      string
	Tool      string
	Outcome   Outcome
	Shown     int // bytes of text added for the agent
	Rule      string
	Query     string
	Page      string // heading of the passage that answered best; empty if none did
	Databases []string
	// Confidence is that of the best passage of each of Databases; 0 for a database that
	// was not searched. It is nil if none was.
	Confidence []float64
}

// Checksum returns a checksum of texts that tells sessions or calls apart.
func Checksum(texts ...string) string {
	var all []byte
	for _, text := range texts {
		all = append(append(all, text...), 0)
	}
	return string(checksum(all))
}

// A Log is the log in a folder.
type Log struct{ Dir string }

// Paths returns the paths of the files. Either may be missing.
func (l Log) Paths() []string {
	return []string{config.Join(l.Dir, currentFile), config.Join(l.Dir, previousFile)}
}

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
			return err // rotation has failed for a long time
		}
	}
	// A link or a named pipe may have replaced the file since Lstat.
	f, err := confined.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// rotate makes room for more bytes, unless another process has.
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
	const head = "00000000\t"
	line = append(line, head+version+"\t"...)
	line = strconv.AppendInt(line, e.At.UnixMilli(), 10)
	for _, name := range [...]string{e.Host, e.Session, e.Call, e.Name, e.Tool, string(e.Outcome)} {
		line = appendField(line, name, maxName)
	}
	line = append(line, '\t')
	line = strconv.AppendInt(line, int64(e.Shown), 10)
	line = appendField(line, e.Rule, maxName)
	line = appendField(line, e.Query, MaxQuery)
	line = appendField(line, e.Page, maxName)
	for i, name := range e.Databases[:min(len(e.Databases), maxDatabases)] {
		line = append(appendField(line, name, maxName), '\t')
		if i < len(e.Confidence) && e.Confidence[i] > 0 {
			line = strconv.AppendFloat(line, e.Confidence[i], 'f', 3, 64)
		}
	}
	copy(line, checksum(line[len(head):]))
	return append(line, '\n')
}

// appendField appends a tab and at most limit bytes of a text.
func appendField(line []byte, text string, limit int) []byte {
	if len(text) > limit {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	if strings.ContainsAny(text, "\\\t\n\r") {
		text = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
	}
	return append(append(line, '\t'), text...)
}

func checksum(data []byte) []byte {
	h := fnv.New32a()
	h.Write(data)
	return fmt.Appendf(nil, "%08x", h.Sum32())
}

// Read calls each with the events of the log, the oldest first, and returns the number of
// corrupt lines. A missing log has no events.
func (l Log) Read(each func(e Event) error) (corrupt int, err error) {
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
		corrupt += n
		if err != nil {
			return corrupt, err
		}
	}
	return corrupt, nil
}

// open opens the two files. A missing file is nil.
func (l Log) open() (first, second *os.File, err error) {
	for {
		if first, err = open(config.Join(l.Dir, currentFile)); err != nil {
			return nil, nil, err
		}
		if second, err = open(config.Join(l.Dir, previousFile)); err != nil {
			first.Close()
			return nil, nil, err
		}
		same, err := sameFile(first, second)
		if !same && err == nil {
			return first, second, nil
		}
		// The first file has replaced the second one in the meantime.
		first.Close()
		second.Close()
		if err != nil {
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

// read calls each with the events in r.
func read(r io.Reader, each func(e Event) error) (corrupt int, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRead))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		e, err := parseLine(line)
		if err != nil {
			corrupt++
			continue
		}
		if err := each(e); err != nil {
			return corrupt, err
		}
	}
	return corrupt, nil
}

// parseLine parses a line that includes its newline.
func parseLine(line []byte) (Event, error) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	sum, rest, found := bytes.Cut(line, []byte("\t"))
	if !whole || !found || len(line) >= maxLine || !bytes.Equal(sum, checksum(rest)) {
		return Event{}, errors.New("corrupt line")
	}
	var fields []string
	for field := range strings.SplitSeq(string(rest), "\t") {
		fields = append(fields, unescape(field))
	}
	if fields[0] == noPages && len(fields) > queryField {
		fields = slices.Insert(fields, queryField+1, "")
		fields[0] = version
	}
	if fields[0] != version {
		return Event{}, errors.New("unsupported line version " + strconv.Quote(fields[0]) + ": want " + version)
	}
	const fixed = 12
	if len(fields) < fixed {
		return Event{}, errors.New("invalid line: " + strconv.Itoa(len(fields)) + " fields, want at least " +
			strconv.Itoa(fixed))
	}
	at, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return Event{}, err
	}
	e := Event{At: time.UnixMilli(at), Host: fields[2], Session: fields[3], Call: fields[4], Name: fields[5],
		Tool: fields[6], Outcome: Outcome(fields[7]), Rule: fields[9], Query: strings.Trim(fields[queryField], " "),
		Page: strings.Trim(fields[queryField+1], " ")}
	if e.Shown, err = strconv.Atoi(fields[8]); err != nil {
		return Event{}, err
	}
	err = e.parseDatabases(fields[fixed:])
	return e, err
}

// parseDatabases parses the names of databases, each followed by a confidence.
func (e *Event) parseDatabases(fields []string) error {
	if len(fields)%2 != 0 {
		return errors.New("invalid line: a database without a confidence")
	}
	for i := 0; i < len(fields); i += 2 {
		e.Databases = append(e.Databases, fields[i])
		if fields[i+1] == "" {
			continue
		}
		c, err := strconv.ParseFloat(fields[i+1], 64)
		if err != nil || !(c >= 0 && c <= 1) {
			return errors.New("invalid confidence " + strconv.Quote(fields[i+1]))
		}
		if e.Confidence == nil {
			e.Confidence = make([]float64, len(fields)/2)
		}
		e.Confidence[i/2] = c
	}
	return nil
}

// unescape decodes a field. A backslash before any other character is literal.
func unescape(field string) string {
	if !strings.Contains(field, `\`) {
		return field
	}
	return strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(field)
}
