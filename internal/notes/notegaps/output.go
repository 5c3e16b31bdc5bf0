package notegaps

import (
	"cmp"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/safetext"
)

// maxLine limits the texts of a report, in characters.
const maxLine = 90

// An Output is the JSON form of a report.
type (
	Output struct {
		Database string       `json:"database"`
		Since    time.Time    `json:"since"`
		Calls    int          `json:"calls"`
		Notes    []noteOutput `json:"notes"`
		Gaps     []gapOutput  `json:"gaps"`
	}
	noteOutput struct {
		Name     string   `json:"name"`
		Title    string   `json:"title"`
		Version  string   `json:"version"`
		Problems []string `json:"problems,omitempty"`
		Shown    int      `json:"shown"`           // number of calls
		Calls    []string `json:"calls,omitempty"` // with Input.Note
	}
	gapOutput struct {
		Kind  Kind         `json:"kind"`
		Note  string       `json:"note,omitempty"`
		Cause string       `json:"cause,omitempty"` // word or command that is too general
		Cases []caseOutput `json:"calls"`
	}
	caseOutput struct {
		Session string `json:"session"`
		Line    int    `json:"line"`
		Call    string `json:"call"`
		Need    Need   `json:"need,omitempty"`
		Text    string `json:"text,omitempty"`
		Unmet   string `json:"unmet,omitempty"` // key of a condition
	}
)

// NewOutput returns the JSON form of the report of an input, whose calls are since a time.
func NewOutput(in *Input, r *Report, since time.Time) *Output {
	out := &Output{Database: in.Database.Name, Since: since, Calls: len(in.Calls), Notes: []noteOutput{}}
	for i := range r.Notes {
		n := &r.Notes[i]
		note := noteOutput{n.Name, n.Fields.Title, n.Version, n.Problems, len(n.Calls), nil}
		if in.Note != "" {
			for _, call := range n.Calls {
				note.Calls = append(note.Calls, in.Describe(call))
			}
		}
		out.Notes = append(out.Notes, note)
	}
	for i := range r.Gaps {
		g := &r.Gaps[i]
		gap := gapOutput{Kind: g.Kind, Note: g.Note, Cause: g.Cause}
		for _, c := range g.Cases {
			e := &in.Calls[c.Call]
			gap.Cases = append(gap.Cases, caseOutput{e.Session, e.Line, in.Describe(c.Call), c.Need, c.Text, c.Unmet})
		}
		out.Gaps = append(out.Gaps, gap)
	}
	return out
}

// Unused returns the number of notes that are shown with no call.
func (r *Report) Unused() int {
	n := 0
	for i := range r.Notes {
		if len(r.Notes[i].Calls) == 0 {
			n++
		}
	}
	return n
}

// Describe describes a call on one line.
func (in *Input) Describe(call int) string {
	e := &in.Calls[call].Event.Event
	return e.Tool + " " + OneLine(cmp.Or(e.Command.Line, e.File.Path))
}

// OneLine returns a text on one line of limited length.
func OneLine(s string) string {
	return humanize.Truncate(safetext.Printable(strings.Join(strings.Fields(s), " ")), maxLine)
}
