// Package notes decides what an agent is told without having asked: which
// documents of the databases that are marked for it fit the call that the
// agent is about to make, and whether the session was told already.
//
// The query is made from the call itself (see Call), the documents are found
// by the words that are rare in them and elsewhere, and each document's own
// front matter may narrow the calls that it is for. Standard library only,
// because the hook runs it.
package notes

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
	UserText    string // how the user's last message ends
	Failure     string // what the call failed with, after it ran
}

// An Entry is a document that the agent may be told.
type Entry struct {
	Database string // its name
	Document string // key of the document in the database
	Title    string
	Source   string // where a reader finds it
	Use      passage.NoteMeta
	Text     string  // all of it, where it is taken
	Rarity   float64 // of the query's words in it, see lexical.Match
	// MentionsFile says that the text has the call's FileName.
	MentionsFile bool

	Relevance float64 // what Judge made of that
	Targeted  bool    // for calls such as this one: by its conditions, or by naming the file
	Selected  bool
	Reason    string // it is taken or left
}

// Key tells the entry from others.
func (e *Entry) Key() string { return e.Database + "/" + e.Document }

// Bonuses of a document for whose calls its author gave conditions that the
// call meets. One that is written for these files or commands reaches the
// default floor without any further evidence.
const (
	narrowBonus   = 1.2 // paths, commands, the name of the file in the text
	languageBonus = .4  // languages, and paths by their ending alone
	priorityBonus = .05 // for each step of priority
)

// minShareOfBest is the share of the best document's relevance that another one
// must reach: a call with many words has some in common with many documents. A
// document that is written for the call need not.
const minShareOfBest = .6

// Judge decides whether an entry is for the call, and relevant enough.
func (c *Call) Judge(e *Entry, floor float64) {
	bonus, misfit := c.matchConditions(&e.Use.AppliesWhen)
	if misfit != "" {
		e.Relevance, e.Selected, e.Reason = e.Rarity, false, misfit
		return
	}
	if e.MentionsFile {
		bonus = max(bonus, narrowBonus)
	}
	e.Targeted = bonus >= narrowBonus
	e.Relevance = e.Rarity + bonus + priorityBonus*float64(e.Use.Priority)
	e.Judge(floor)
}

// Judge decides whether the entry's relevance is enough.
func (e *Entry) Judge(floor float64) {
	e.Selected = e.Relevance >= floor
	verb := "reaches"
	if !e.Selected {
		verb = "is below"
	}
	e.Reason = fmt.Sprintf("relevance %.2f %s the floor %.2f", e.Relevance, verb, floor)
}

// matchConditions returns the bonus of a document with these conditions, or the one that
// the call does not meet.
func (c *Call) matchConditions(w *passage.AppliesWhen) (bonus float64, misfit string) {
	if len(w.Tools) > 0 && !slices.ContainsFunc(w.Tools, func(t string) bool { return strings.EqualFold(t, c.Tool) }) {
		return 0, "applies_when: not for the tool " + c.Tool
	}
	if c.Path != "" {
		return c.matchFile(w)
	}
	return c.matchCommand(w)
}

func (c *Call) matchFile(w *passage.AppliesWhen) (bonus float64, misfit string) {
	if len(w.Paths)+len(w.Languages) == 0 && len(w.Commands) > 0 {
		return 0, "applies_when: commands only"
	}
	if len(w.Paths) > 0 {
		at := slices.IndexFunc(w.Paths, c.within)
		if at < 0 {
			return 0, "applies_when: not for the file " + c.Path
		}
		for _, pattern := range w.Paths[at:] {
			if c.within(pattern) {
				bonus = max(bonus, pathBonus(pattern))
			}
		}
	}
	if len(w.Languages) > 0 {
		language := Language(c.Path)
		if !slices.ContainsFunc(w.Languages, func(l string) bool { return language != "" && canonicalLanguage(l) == language }) {
			return 0, "applies_when: not for files such as " + c.Path
		}
		bonus = max(bonus, languageBonus)
	}
	return bonus, ""
}

func (c *Call) matchCommand(w *passage.AppliesWhen) (bonus float64, misfit string) {
	switch {
	case len(w.Commands) > 0:
		if !c.runsAny(w.Commands) {
			return 0, "applies_when: not for this command"
		}
		return narrowBonus, ""
	case len(w.Paths) > 0:
		return 0, "applies_when: files only"
	case len(w.Languages) > 0:
		languages := c.languages()
		if !slices.ContainsFunc(w.Languages, func(l string) bool { return slices.Contains(languages, canonicalLanguage(l)) }) {
			return 0, "applies_when: not for the language of this command"
		}
		return languageBonus, ""
	}
	return 0, ""
}

// pathBonus is that of a pattern: one of a language's ending alone says as much
// as the language does.
func pathBonus(pattern string) float64 {
	if slices.ContainsFunc(alternatives(pattern), isNarrow) {
		return narrowBonus
	}
	return languageBonus
}

// isNarrow reports whether a pattern names a folder, a part of a file's name or
// an ending that no language has alone. Notebooks are few among Python's files.
func isNarrow(pattern string) bool {
	name := baseName(pattern)
	if strings.Trim(pattern[:len(pattern)-len(name)], "*/.") != "" {
		return true
	}
	base, ending, _ := strings.Cut(name, ".")
	switch {
	case strings.Trim(base, "*") != "" || strings.Contains(ending, ".") || ending == "ipynb":
		return true
	case ending == "":
		return strings.Trim(name, "*") != ""
	}
	return base == "" || Language("x."+ending) == ""
}

// languages are those of the programs in the call's command line.
func (c *Call) languages() []string {
	var list []string
	for _, words := range simpleCommands(c.Command) {
		for _, run := range launchedCommands(words) {
			for _, l := range languagesOf(run[0]) {
				if !slices.Contains(list, l) {
					list = append(list, l)
				}
			}
		}
	}
	return list
}

// within reports whether the call's file matches a pattern of paths: one
// without a slash the file's name, any other the path from the folder that the
// session works in, or the whole path.
func (c *Call) within(pattern string) bool {
	path := slashed(c.Path)
	if !strings.Contains(pattern, "/") {
		return Match(pattern, path[strings.LastIndexByte(path, '/')+1:])
	}
	rest, inside := c.inFolder()
	return inside && Match(pattern, rest) || Match(pattern, path) || !strings.HasPrefix(path, "/") && Match(pattern, strings.TrimPrefix(path, "./"))
}

// inFolder is the call's file from the folder that the session works in, if it
// is below it.
func (c *Call) inFolder() (path string, inside bool) {
	return strings.CutPrefix(slashed(c.Path), strings.TrimRight(slashed(c.Folder), "/")+"/")
}

// FileName is the end of the file's path by which a document can name the file:
// its folder and name. It is empty for a file in the session's own folder, whose
// name is in many projects.
func (c *Call) FileName() string {
	path := slashed(c.Path)
	if rest, inside := c.inFolder(); inside {
		path = rest
	}
	at := strings.LastIndexByte(path, '/')
	if at <= 0 {
		return ""
	}
	return path[strings.LastIndexByte(path[:at], '/')+1:]
}

// slashed is a path as patterns are written, on any system.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// runsAny reports whether one of the commands of the call's line begins with one
// of these, word by word. The folder of a program counts only if the condition
// has one.
func (c *Call) runsAny(commands []string) bool {
	for _, words := range simpleCommands(c.Command) {
		for _, run := range launchedCommands(words) {
			for _, command := range commands {
				if beginsWith(run, strings.Fields(command)) {
					return true
				}
			}
		}
	}
	return false
}

func beginsWith(words, with []string) bool {
	if len(with) == 0 || len(words) < len(with) || !slices.Equal(words[1:len(with)], with[1:]) {
		return false
	}
	return words[0] == with[0] || baseName(words[0]) == with[0]
}

func baseName(path string) string { return path[strings.LastIndexByte(slashed(path), '/')+1:] }

// Best returns the entries that are taken, the most relevant first. It leaves
// those that are far less relevant than the first one.
func Best(entries []Entry) []Entry {
	best := 0.
	for i := range entries {
		if e := &entries[i]; e.Selected {
			best = max(best, e.Relevance)
		}
	}
	for i := range entries {
		if e := &entries[i]; e.Selected && !e.Targeted && e.Relevance < minShareOfBest*best {
			e.Selected = false
			e.Reason = fmt.Sprintf("relevance %.2f is below %.0f%% of the best note's relevance %.2f", e.Relevance, 100*minShareOfBest, best)
		}
	}
	taken := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !e.Selected })
	slices.SortStableFunc(taken, func(a, b Entry) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return taken
}
