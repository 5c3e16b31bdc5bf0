// Package inject decides what an agent is told without having asked: which
// documents of the databases that are marked for it fit the call that the
// agent is about to make, and whether the session was told already.
//
// The query is made from the call itself (see Call), the documents are found
// by the words that are rare in them and elsewhere, and each document's own
// front matter may narrow the calls that it is for. Standard library only,
// because the hook runs it.
package inject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// A Call is what is known of a tool call.
type Call struct {
	Tool        string
	Folder      string // that the session works in
	Path        string // of the file that is read or changed
	Text        string // that is written into it
	Command     string // of a shell
	Description string // of the command
	Said        string // how the user's last message ends
	Failure     string // what the call failed with, after it ran
}

// An Entry is a document that the agent may be told.
type Entry struct {
	Database string // its name
	Document string // key of the document in the database
	Title    string
	Source   string // where a reader finds it
	Use      passage.Use
	Text     string  // all of it, where it is taken
	Rarity   float64 // of the query's words in it, see lexical.Match

	Relevance float64 // what Judge made of that
	Taken     bool
	Why       string // it is taken or left
}

// Key tells the entry from others.
func (e *Entry) Key() string { return e.Database + "/" + e.Document }

// Bonuses of a document for whose calls its author gave conditions that the
// call meets: what is written for this kind of file or command needs little
// evidence.
const (
	narrowBonus   = 1   // paths, commands
	languageBonus = .6  // languages
	priorityBonus = .05 // for each step of priority
)

// Judge decides whether an entry is for the call, and relevant enough.
func (c *Call) Judge(e *Entry, floor float64) {
	bonus, misfit := c.fit(&e.Use.When)
	if misfit != "" {
		e.Relevance, e.Taken, e.Why = e.Rarity, false, misfit
		return
	}
	e.Relevance = e.Rarity + bonus + priorityBonus*float64(e.Use.Priority)
	e.Taken = e.Relevance >= floor
	verb := "reaches"
	if !e.Taken {
		verb = "does not reach"
	}
	e.Why = fmt.Sprintf("its relevance %.2f %s the floor of %.2f", e.Relevance, verb, floor)
}

// fit tells what speaks for a document with these conditions, or which of
// them the call does not meet.
func (c *Call) fit(w *passage.When) (bonus float64, misfit string) {
	file := c.Path != ""
	switch {
	case len(w.Tools) > 0 && !slices.ContainsFunc(w.Tools, func(t string) bool { return strings.EqualFold(t, c.Tool) }):
		return 0, "applies_when: not for the tool " + c.Tool
	case file && len(w.Paths)+len(w.Languages) == 0 && len(w.Commands) > 0:
		return 0, "applies_when: for commands only"
	case !file && len(w.Commands) == 0 && len(w.Paths)+len(w.Languages) > 0:
		return 0, "applies_when: for files only"
	}
	if file && len(w.Paths) > 0 {
		if !slices.ContainsFunc(w.Paths, c.within) {
			return 0, "applies_when: not for the file " + c.Path
		}
		bonus += narrowBonus
	}
	if file && len(w.Languages) > 0 {
		language := Language(c.Path)
		if !slices.ContainsFunc(w.Languages, func(l string) bool { return language != "" && languageNamed(l) == language }) {
			return 0, "applies_when: not for files such as " + c.Path
		}
		bonus += languageBonus
	}
	if !file && len(w.Commands) > 0 {
		if !c.runs(w.Commands) {
			return 0, "applies_when: not for this command"
		}
		bonus += narrowBonus
	}
	return bonus, ""
}

// within reports whether the call's file matches a pattern of paths: one
// without a slash the file's name, any other the path from the folder that the
// session works in, or the whole path.
func (c *Call) within(pattern string) bool {
	path := slashed(c.Path)
	if !strings.Contains(pattern, "/") {
		return Match(pattern, path[strings.LastIndexByte(path, '/')+1:])
	}
	folder := strings.TrimRight(slashed(c.Folder), "/") + "/"
	rest, inside := strings.CutPrefix(path, folder)
	return inside && Match(pattern, rest) || Match(pattern, path) || !strings.HasPrefix(path, "/") && Match(pattern, strings.TrimPrefix(path, "./"))
}

// slashed is a path as patterns are written, on any system.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// runs reports whether one of the commands of the call's line begins with one
// of these, word by word.
func (c *Call) runs(commands []string) bool {
	for _, words := range simpleCommands(c.Command) {
		for _, command := range commands {
			want := strings.Fields(command)
			if len(want) > 0 && len(words) >= len(want) && slices.Equal(words[:len(want)], want) {
				return true
			}
		}
	}
	return false
}

// Best are the entries that are taken, the most relevant first.
func Best(entries []Entry) []Entry {
	taken := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !e.Taken })
	slices.SortStableFunc(taken, func(a, b Entry) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return taken
}
