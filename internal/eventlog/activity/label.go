package activity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
)

const (
	labelsName     = "docsearch-labels.jsonl"
	labelsLockName = "docsearch-labels.lock"
	// maxLabels limits the examples; the oldest are dropped first.
	maxLabels = 5000
	// maxLabelsFile is longer than any file of maxLabels examples.
	maxLabelsFile = 16 << 20
	lockWait      = 5 * time.Second
	// labelSource is the "source" of an example.
	labelSource = "marked as wrong"
)

// Labels is the file of decisions that the user marked as wrong, in the folder of the
// hook's state. It is a query file of "docsearch eval" (see package eval):
//
//	docsearch-labels.jsonl
//	  {"id":"1767322445000-898cdae8","ds":"gitlab","text":"gitlab ci cache","answer":false,"source":"marked as wrong"}
//
// Each line is one example and ends with a newline. The fields are:
//
//	id      identifies the event: its time in milliseconds since 1970, and its checksum
//	ds      the database that answered wrongly or failed to answer; absent if none matched
//	text    the query
//	answer  false: the database should not have answered; true: it should have
//	source  "marked as wrong"
//
// An event of several databases has one line for each. The file is replaced as a whole,
// under docsearch-labels.lock, and only its user can read it. It never leaves the machine.
type Labels struct{ Dir string }

// A Label is an example: a line of the file.
type Label struct {
	ID     string `json:"id"`
	Set    string `json:"ds,omitempty"`
	Text   string `json:"text"`
	Answer bool   `json:"answer"`
	Source string `json:"source"`
}

// Path returns the path of the file.
func (l Labels) Path() string { return filepath.Join(l.Dir, labelsName) }

// Read returns the examples, the oldest first. Without a file there are none.
func (l Labels) Read() ([]Label, error) {
	data, err := atomicfile.Read(l.Path(), maxLabelsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	labels, err := parseLabels(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", l.Path(), err)
	}
	return labels, nil
}

func parseLabels(data []byte) ([]Label, error) {
	var labels []Label
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var label Label
		if err := json.Unmarshal(line, &label); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		labels = append(labels, label)
	}
	return labels, nil
}

// Add marks the decision of an event as wrong. The event must have a verdict (see
// Verdict).
func (l Labels) Add(e *Entry) error {
	answered, ok := Verdict(e)
	if !ok {
		return errors.New("cannot mark the decision: only web searches with a logged query can be examples")
	}
	sets := e.Databases
	if len(sets) == 0 {
		sets = []string{""}
	}
	return l.change(func(all []Label) []Label {
		all = without(all, e.ID())
		for _, set := range sets {
			all = append(all, Label{e.ID(), set, e.Query, !answered, labelSource})
		}
		return all[max(0, len(all)-maxLabels):]
	})
}

// Remove removes the examples of an event.
func (l Labels) Remove(id string) error {
	return l.change(func(all []Label) []Label { return without(all, id) })
}

func without(all []Label, id string) []Label {
	return slices.DeleteFunc(all, func(label Label) bool { return label.ID == id })
}

// change replaces the file under its lock. It does not replace a file that it cannot
// read, because the user's examples cannot be made again.
func (l Labels) change(change func([]Label) []Label) error {
	lock, err := filelock.AcquireMkdir(l.Dir, filepath.Join(l.Dir, labelsLockName), lockWait)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	labels, err := l.Read()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, label := range change(labels) {
		if err := enc.Encode(label); err != nil {
			return err
		}
	}
	return atomicfile.Write(l.Path(), b.Bytes(), 0o600)
}

// Verdict reports whether the hook answered the web search of an event from local
// documentation. ok is false for events that are no such decision or have no query.
func Verdict(e *Entry) (answered, ok bool) {
	switch e.Outcome {
	case eventlog.Answered, eventlog.Redirected:
		return true, e.Tool == "WebSearch" && e.Query != ""
	case eventlog.Unanswered, eventlog.Unmatched:
		return false, e.Tool == "WebSearch" && e.Query != ""
	}
	return false, false
}
