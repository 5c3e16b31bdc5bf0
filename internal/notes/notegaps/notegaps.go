// Package notegaps compares notes with the tool calls of past sessions. It finds calls
// with which a note should have been shown and was not, notes that are shown with calls
// of every kind, and failures and corrections that no note is about.
//
// A call needed a note if it failed or the user corrected it, and the note is about the
// error messages or the user's words.
package notegaps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes"
	"github.com/docsearch/docsearch/internal/notes/notebook"
)

// An Input is the notes of a database and the calls to compare them with.
type Input struct {
	Folder   notebook.Folder
	Database config.Database   // index of the folder; not read if there are no notes
	Others   []config.Database // other databases with notes
	Language string            // of the index
	Floor    float64           // minimum relevance of a note
	Calls    []replay.Call     // the calls of a session are consecutive and in order
	Note     string            // report gaps of this note only; empty: of all, and of the project
}

// A Report is the result of Analyze.
type Report struct {
	Notes []Note // in order of their names
	Gaps  []Gap
}

// A Note is a note and the calls with which the hook would show it, as indexes of
// Input.Calls.
type Note struct {
	notebook.Note
	Calls []int
}

// A Kind is a kind of gap.
type Kind string

const (
	NotShown Kind = "not_shown" // a note was not shown with calls that needed it
	TooOften Kind = "too_often" // a note is shown with calls of many kinds
	NoNote   Kind = "no_note"   // calls that needed a note have none
)

// A Gap is a difference between the notes and the calls.
type Gap struct {
	Kind  Kind
	Note  string // name; empty for NoNote
	Cause string // for TooOften: the word or the command that is too general
	Cases []Case
}

// A Case is a call that a gap is about.
type Case struct {
	Call  int // index of Input.Calls
	Need  Need
	Text  string // the error message or the user's words
	Unmet string // for NotShown: the key of the condition that the call does not meet, if any
}

// A Need is the reason why a call needed a note.
type Need string

const (
	None      Need = ""
	Failed    Need = "failed"
	Corrected Need = "corrected"
)

// analysis is the state of Analyze.
type analysis struct {
	in       *Input
	analyzer *lexical.Analyzer
	calls    []*notes.Call
	families [][]string        // by call
	terms    []map[string]bool // of the query, by call
	general  map[string]bool   // terms of many calls
	shown    [][]string        // names of the notes that the hook would show, by call
	evidence []evidence        // by call
	notes    []notebook.Note
	report   *Report
}

// evidence is the evidence that a call needed a note.
type evidence struct {
	need Need
	text string
	note string // that is about it; empty: none
}

// Analyze compares the notes with the calls.
func Analyze(in *Input) (*Report, error) {
	a := &analysis{in: in, report: &Report{}}
	var err error
	if a.analyzer, err = lexical.NewAnalyzer(in.Language); err != nil {
		return nil, err
	}
	for i := range in.Calls {
		c := hook.CallOf(in.Calls[i].Event.Event)
		a.calls = append(a.calls, c)
		a.families = append(a.families, c.Families())
		a.terms = append(a.terms, a.termsOf(c.Query().String()))
	}
	a.general = generalTerms(a.terms)
	if err := a.readNotes(); err != nil {
		return nil, err
	}
	if err := a.findShown(); err != nil {
		return nil, err
	}
	if err := a.findNeeds(); err != nil {
		return nil, err
	}
	for i := range a.notes {
		n := &a.notes[i]
		if in.Note != "" && n.Name != in.Note {
			continue
		}
		a.report.Notes = append(a.report.Notes, Note{*n, a.callsWith(n.Name)})
		a.notShown(n)
		a.tooOften(n)
	}
	if in.Note == "" {
		a.withoutNote()
	}
	order := []Kind{NotShown, TooOften, NoNote}
	slices.SortStableFunc(a.report.Gaps, func(x, y Gap) int {
		return cmp.Or(slices.Index(order, x.Kind)-slices.Index(order, y.Kind), len(y.Cases)-len(x.Cases))
	})
	return a.report, nil
}

// findShown finds the notes that the hook would show with each call.
func (a *analysis) findShown() error {
	a.shown = make([][]string, len(a.calls))
	if len(a.notes) == 0 {
		return nil
	}
	entries, err := lookup.Indexes{}.EntriesOf(&a.in.Database, a.calls, a.in.Floor)
	if err != nil {
		return err
	}
	for i := range a.in.Others {
		others, err := lookup.Indexes{}.EntriesOf(&a.in.Others[i], a.calls, a.in.Floor)
		if err != nil {
			continue // the hook shows none of its notes either
		}
		for n := range entries {
			entries[n] = append(entries[n], others[n]...)
		}
	}
	for i := range entries {
		for _, e := range notes.Best(entries[i]) {
			if e.Database == a.in.Database.Name {
				a.shown[i] = append(a.shown[i], e.Document)
			}
		}
	}
	return nil
}

// callsWith returns the calls with which the hook would show a note.
func (a *analysis) callsWith(note string) []int {
	var list []int
	for i := range a.shown {
		if slices.Contains(a.shown[i], note) {
			list = append(list, i)
		}
	}
	return list
}

// generalShare is the share of the calls whose queries contain a term that is too general
// to select a note, such as the name of the project.
const generalShare = .2

func generalTerms(calls []map[string]bool) map[string]bool {
	counts := map[string]int{}
	for _, terms := range calls {
		for t := range terms {
			counts[t]++
		}
	}
	general := map[string]bool{}
	for t, n := range counts {
		general[t] = n >= generalCalls && float64(n) >= generalShare*float64(len(calls))
	}
	return general
}

func (a *analysis) readNotes() error {
	names, err := a.in.Folder.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		n, err := a.in.Folder.Read(name)
		if err != nil {
			if name == a.in.Note {
				return err
			}
			continue // the database skips it, too
		}
		a.notes = append(a.notes, n)
	}
	return nil
}

func (a *analysis) termsOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, t := range a.analyzer.Terms(text) {
		set[t] = true
	}
	return set
}

// findNeeds finds the calls that needed a note, and the notes that are about them.
func (a *analysis) findNeeds() error {
	a.evidence = make([]evidence, len(a.calls))
	for start := 0; start < len(a.in.Calls); {
		end := start + 1
		for end < len(a.in.Calls) && sameTurn(&a.in.Calls[start], &a.in.Calls[end]) {
			end++
		}
		a.findCorrections(start, end)
		start = end
	}
	for i := range a.calls {
		e := &a.evidence[i]
		var err error
		switch {
		case e.need == Corrected:
			e.note, err = a.about(e.text, nil)
		case a.in.Calls[i].Failure != "":
			*e, err = a.failure(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sameTurn(x, y *replay.Call) bool {
	return x.Session == y.Session && x.Agent == y.Agent && x.Turn == y.Turn
}

// failure returns the evidence of a failed call: none if its output has no error message.
func (a *analysis) failure(i int) (evidence, error) {
	f := notes.ReadFailure(a.in.Calls[i].Failure)
	if len(f.Messages) == 0 {
		return evidence{}, nil
	}
	note, err := a.about(strings.Join(f.Messages, " "), f.Scanner())
	if note == "" && f.TestFailed {
		return evidence{}, err // the cause is in the user's own code
	}
	return evidence{Failed, compact(f.Messages[0]), note}, err
}

// Limits of a note about a text: the share of the text's words that the note contains,
// weighted by rarity, and the number of those that are not general.
const (
	aboutShare = .4
	aboutTerms = 2
	// aboutCode is the evidence of an error code in the note; see notes.Evidence.Defines.
	aboutCode = .7
)

// about returns the note that is about a correction or error messages, or "": it contains
// many of the words, or an error code that the scanner of the failure finds.
func (a *analysis) about(text string, failure *notes.Scanner) (string, error) {
	if len(a.notes) == 0 {
		return "", nil
	}
	found, err := lookup.Indexes{}.About(&a.in.Database, text)
	if err != nil {
		return "", err
	}
	said := a.termsOf(text)
	for _, e := range found {
		i := slices.IndexFunc(a.notes, func(n notebook.Note) bool { return n.Name == e.Document })
		if i < 0 {
			continue
		}
		n := &a.notes[i]
		if failure != nil && failure.Scan(&passage.Passage{Title: n.Fields.Title, Text: n.Text}).Defines >= aboutCode {
			return n.Name, nil
		}
		if e.Rarity < a.in.Floor || e.Relevance < aboutShare {
			continue
		}
		common := 0
		for t := range a.noteTerms(n) {
			if said[t] && !a.general[t] {
				common++
			}
		}
		if common >= aboutTerms {
			return n.Name, nil
		}
	}
	return "", nil
}

func (a *analysis) noteTerms(n *notebook.Note) map[string]bool {
	return a.termsOf(n.Fields.Title + "\n" + strings.Join(n.Fields.Tags, "\n") + "\n" + n.Text)
}

// cases returns the cases of some calls.
func (a *analysis) cases(calls []int) []Case {
	var list []Case
	for _, i := range calls {
		list = append(list, Case{Call: i, Need: a.evidence[i].need, Text: a.evidence[i].text})
	}
	return list
}

// notShown finds the calls that needed a note and did not get it.
func (a *analysis) notShown(n *notebook.Note) {
	gap := Gap{Kind: NotShown, Note: n.Name}
	for i, e := range a.evidence {
		if e.note != n.Name || slices.Contains(a.shown[i], n.Name) {
			continue
		}
		entry := notes.Entry{Use: passage.NoteMeta{AppliesWhen: n.Fields.AppliesWhen}}
		a.calls[i].Judge(&entry, a.in.Floor)
		gap.Cases = append(gap.Cases, Case{i, e.need, e.text, entry.Unmet})
	}
	if len(gap.Cases) > 0 {
		a.report.Gaps = append(a.report.Gaps, gap)
	}
}
