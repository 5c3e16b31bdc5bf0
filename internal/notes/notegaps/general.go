package notegaps

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/notes"
	"github.com/docsearch/docsearch/internal/notes/notebook"
)

// Limits of the calls that a word or a command shows a note with, from which it is too
// general: their number and that of their kinds.
const (
	generalCalls = 8
	generalKinds = 4
)

// tooOften finds a command or a word of the note that is too general, and the calls that
// get the note only because of it.
func (a *analysis) tooOften(n *notebook.Note) {
	calls := slices.DeleteFunc(a.callsWith(n.Name), func(i int) bool { return a.evidence[i].note == n.Name })
	causes := append(a.generalCommands(n, calls), a.generalWords(n, calls)...)
	for _, c := range causes {
		if len(c.calls) >= generalCalls && a.kinds(c.calls) >= generalKinds {
			a.report.Gaps = append(a.report.Gaps,
				Gap{Kind: TooOften, Note: n.Name, Cause: c.text, Cases: a.cases(c.calls)})
			return
		}
	}
}

// A cause is a word or a command of a note, with the calls that get the note only because
// of it.
type cause struct {
	text  string
	calls []int
}

// kinds returns the number of families of some calls.
func (a *analysis) kinds(calls []int) int {
	set := map[string]bool{}
	for _, i := range calls {
		for _, f := range a.families[i] {
			set[f] = true
		}
	}
	return len(set)
}

// generalCommands returns the commands of one word in the conditions of the note if the
// note mentions some of their subcommands, but at most half of those in the calls.
func (a *analysis) generalCommands(n *notebook.Note, calls []int) []cause {
	have := a.noteTerms(n)
	var causes []cause
	for _, command := range n.Fields.AppliesWhen.Commands {
		mentioned := map[string]bool{} // by family
		for _, i := range calls {
			for _, f := range a.families[i] {
				if rest, ok := strings.CutPrefix(f, command+" "); ok {
					t := a.analyzer.Terms(rest)
					mentioned[f] = len(t) > 0 && !slices.ContainsFunc(t, func(t string) bool { return !have[t] })
				}
			}
		}
		meant := 0
		for _, is := range mentioned {
			if is {
				meant++
			}
		}
		if strings.Contains(command, " ") || meant == 0 || 2*meant > len(mentioned) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(calls), func(i int) bool {
			return slices.ContainsFunc(a.families[i], func(f string) bool { return mentioned[f] })
		})
		causes = append(causes, cause{command, others})
	}
	return causes
}

// generalWords returns the words of a note that are in the queries of many calls, the most
// frequent first. Calls of one program or one kind of file do not make a word general.
func (a *analysis) generalWords(n *notebook.Note, calls []int) []cause {
	have := a.noteTerms(n)
	var causes []cause
	seen := map[string]bool{}
	for _, word := range wordsOf(n.Fields.Title + "\n" + strings.Join(n.Fields.Tags, "\n") + "\n" + n.Text) {
		terms := a.analyzer.Terms(word)
		if len(terms) != 1 || seen[terms[0]] || !a.general[terms[0]] {
			continue
		}
		t := terms[0]
		seen[t] = true
		programs := map[string]bool{}
		c := cause{text: word}
		for _, i := range calls {
			if !a.terms[i][t] {
				continue
			}
			programs[programOf(a.calls[i], a.families[i])] = true
			if !slices.ContainsFunc(slices.Collect(maps.Keys(a.terms[i])),
				func(o string) bool { return o != t && have[o] }) {
				c.calls = append(c.calls, i)
			}
		}
		if len(programs) >= generalKinds {
			causes = append(causes, c)
		}
	}
	slices.SortStableFunc(causes, func(x, y cause) int { return cmp.Compare(len(y.calls), len(x.calls)) })
	return causes
}

// programOf returns the program of a command, or the language or the name of a file.
func programOf(c *notes.Call, families []string) string {
	if len(families) == 0 {
		return ""
	}
	if c.Path != "" {
		return cmp.Or(notes.Language(c.Path), families[0])
	}
	program, _, _ := strings.Cut(families[0], " ")
	return program
}
