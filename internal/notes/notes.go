// Package notes selects the notes that are added to an agent's context automatically: the
// documents, of the databases marked for it, that match the agent's next call and that the
// session has not seen.
//
// The query is derived from the call (see Call). Documents are found by terms that are
// rare in the database and in a background corpus, and a document's front matter can limit
// the calls that it applies to. Standard library only, because the hook imports this
// package.
package notes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// A Call is a tool call, as far as notes are matched with it.
type Call struct {
	Tool        string
	Folder      string // working directory of the session
	Path        string // of the file that the call reads or changes
	Text        string // to write into the file
	Command     string // shell command line
	Description string // of the command
	UserText    string // end of the user's last message
	Failure     string // output of the call, if it failed
}

// An Entry is a document that may be shown for a call.
type Entry struct {
	Database string // name of the database
	Document string // key of the document in the database
	Title    string
	Source   string // URL or path for the reader
	Use      passage.NoteMeta
	Text     string  // the document's text, if it is selected
	Rarity   float64 // of the query's terms in the document, see lexical.Match
	// Similarity of the document's vectors to the query, from 0 to 1; 0 without vectors.
	Similarity float64
	// MentionsFile reports that the text contains the call's FileName.
	MentionsFile bool
	// Share is the document's share of the rarity of all the query's words.
	Share float64
	// Notes is the number of documents in the database, or 0 if it does not matter.
	Notes int

	Relevance float64 // the sum that Judge compares with the floor
	Targeted  bool    // the conditions or the text of the document target this call
	Selected  bool    // relevant enough to be shown
	Reason    string  // why the entry is selected or not
	Unmet     string  // first key of applies_when that the call does not meet
}

// Key returns a key that identifies the entry.
func (e *Entry) Key() string { return e.Database + "/" + e.Document }

// Bonuses of a document whose conditions the call meets. narrowBonus alone reaches the
// default floor.
const (
	narrowBonus   = 1.2 // paths, commands, the name of the file in the text
	languageBonus = .4  // languages, and paths by their ending alone
	priorityBonus = .05 // per step of priority
)

// SimilarityBonus is the bonus for the highest similarity.
const SimilarityBonus = 1

// minShareOfBest is the required share of the best document's relevance. A call with many
// terms shares some with many documents. Documents that target the call are exempt.
const minShareOfBest = .6

const (
	// manyNotes is the number of documents from which the configured floor applies. With
	// fewer, it is lower: a word in two of five notes counts .63, one in two of a hundred .88,
	// and fewer notes match a call by chance.
	manyNotes = 17
	// fewReduction is the share of the floor that a single note does not need.
	fewReduction = .25
	// clearReduction is the same for a clear match: a note that has clearShare of the query or
	// is titled after the call's program.
	clearReduction = .625
	clearShare     = .5
)

// FloorOf returns the floor of a database with this number of documents. If clear is set,
// it is that of documents that match the call clearly.
func FloorOf(floor float64, documents int, clear bool) float64 {
	reduction := fewReduction
	if clear {
		reduction = clearReduction
	}
	missing := max(0, manyNotes-max(1, documents))
	return floor * (1 - reduction*float64(missing)/(manyNotes-1))
}

// floorOf returns the floor of an entry. Only its words count for one below the configured
// floor, because vectors alone must not select a note.
func (c *Call) floorOf(e *Entry, floor float64) float64 {
	if e.Notes == 0 {
		return floor
	}
	lower := FloorOf(floor, e.Notes, e.Share >= clearShare || c.isTitled(e.Title))
	if e.Similarity > 0 && e.Relevance-SimilarityBonus*e.Similarity < lower {
		return floor
	}
	return lower
}

// isTitled reports whether a title contains a program or a subcommand of the call's command
// line, such as "commit" in "Commit messages" or "release" in "Releases".
func (c *Call) isTitled(title string) bool {
	words := strings.FieldsFunc(strings.ToLower(title),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(c.programs(), func(p string) bool {
		return len(p) > 2 && (slices.Contains(words, p) || slices.Contains(words, p+"s"))
	})
}

// Judge computes the relevance of an entry for the call and decides whether it is
// selected.
func (c *Call) Judge(e *Entry, floor float64) {
	bonus, unmet, misfit := c.matchConditions(&e.Use.AppliesWhen)
	e.Unmet = unmet
	if unmet != "" {
		e.Relevance, e.Selected, e.Reason = e.Rarity, false, "applies_when: "+misfit
		return
	}
	if e.MentionsFile {
		bonus = max(bonus, narrowBonus)
	}
	e.Targeted = bonus >= narrowBonus
	e.Relevance = e.Rarity + bonus + priorityBonus*float64(e.Use.Priority) + SimilarityBonus*e.Similarity
	e.Judge(c.floorOf(e, floor))
	if e.Similarity > 0 {
		e.Reason += fmt.Sprintf(" (%.2f by vectors)", SimilarityBonus*e.Similarity)
	}
}

// Judge selects the entry if its relevance reaches the floor.
func (e *Entry) Judge(floor float64) {
	e.Selected = e.Relevance >= floor
	verb := "reaches"
	if !e.Selected {
		verb = "is below"
	}
	e.Reason = fmt.Sprintf("relevance %.2f %s the floor %.2f", e.Relevance, verb, floor)
}

// matchConditions returns the bonus of a document whose conditions the call meets, or the
// key of the first condition that it does not meet and the reason.
func (c *Call) matchConditions(w *passage.AppliesWhen) (bonus float64, unmet, misfit string) {
	if len(w.Tools) > 0 && !slices.ContainsFunc(w.Tools, func(t string) bool { return strings.EqualFold(t, c.Tool) }) {
		return 0, "tools", "not for the tool " + c.Tool
	}
	if c.Path != "" {
		return c.matchFile(w)
	}
	return c.matchCommand(w)
}

func (c *Call) matchFile(w *passage.AppliesWhen) (bonus float64, unmet, misfit string) {
	if len(w.Paths)+len(w.Languages) == 0 && len(w.Commands) > 0 {
		return 0, "paths", "commands only"
	}
	if len(w.Paths) > 0 {
		at := slices.IndexFunc(w.Paths, c.within)
		if at < 0 {
			return 0, "paths", "not for the file " + c.Path
		}
		for _, pattern := range w.Paths[at:] {
			if c.within(pattern) {
				bonus = max(bonus, pathBonus(pattern))
			}
		}
	}
	if len(w.Languages) > 0 {
		language := Language(c.Path)
		if !slices.ContainsFunc(w.Languages,
			func(l string) bool { return language != "" && canonicalLanguage(l) == language }) {
			return 0, "languages", "not for files such as " + c.Path
		}
		bonus = max(bonus, languageBonus)
	}
	return bonus, "", ""
}

func (c *Call) matchCommand(w *passage.AppliesWhen) (bonus float64, unmet, misfit string) {
	switch {
	case len(w.Commands) > 0:
		if !c.runsAny(w.Commands) {
			return 0, "commands", "not for this command"
		}
		return narrowBonus, "", ""
	case len(w.Paths) > 0:
		return 0, "commands", "files only"
	case len(w.Languages) > 0:
		languages := c.languages()
		if !slices.ContainsFunc(w.Languages,
			func(l string) bool { return slices.Contains(languages, canonicalLanguage(l)) }) {
			return 0, "languages", "not for the language of this command"
		}
		return languageBonus, "", ""
	}
	return 0, "", ""
}

// pathBonus returns the bonus of a path pattern. A pattern of only a language's file
// extension is as weak as the language.
func pathBonus(pattern string) float64 {
	if slices.ContainsFunc(alternatives(pattern), isNarrow) {
		return narrowBonus
	}
	return languageBonus
}

// isNarrow reports whether a pattern contains a folder, a part of a file's name, or an
// extension that is not that of a language. Notebooks count as narrow, because they are a
// small part of Python's files.
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

// languages returns the languages of the programs in the call's command line.
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

// within reports whether the call's file matches a path pattern. A pattern without a slash
// matches the file's name, any other the path relative to the session's folder or the
// whole path.
func (c *Call) within(pattern string) bool {
	path := toSlash(c.Path)
	if !strings.Contains(pattern, "/") {
		return Match(pattern, path[strings.LastIndexByte(path, '/')+1:])
	}
	rest, inside := c.inFolder()
	return inside && Match(pattern, rest) || Match(pattern, path) ||
		!strings.HasPrefix(path, "/") && Match(pattern, strings.TrimPrefix(path, "./"))
}

// inFolder returns the path of the call's file relative to the session's folder, if the
// file is below it.
func (c *Call) inFolder() (path string, inside bool) {
	return strings.CutPrefix(toSlash(c.Path), strings.TrimRight(toSlash(c.Folder), "/")+"/")
}

// FileName returns the folder and name of the call's file, by which a document can mention
// it. It is empty for a file directly in the session's folder, because many projects have
// a file of that name.
func (c *Call) FileName() string {
	path := toSlash(c.Path)
	if rest, inside := c.inFolder(); inside {
		path = rest
	}
	at := strings.LastIndexByte(path, '/')
	if at <= 0 {
		return ""
	}
	return path[strings.LastIndexByte(path[:at], '/')+1:]
}

// toSlash returns a path with forward slashes.
func toSlash(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// runsAny reports whether a command of the call's line starts with the words of one of
// these. A program's folder counts only if the condition has one.
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

func baseName(path string) string { return path[strings.LastIndexByte(toSlash(path), '/')+1:] }

// Best returns the selected entries, the most relevant first. It deselects entries that
// are far less relevant than the best one.
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
			e.Reason = fmt.Sprintf("relevance %.2f is below %.0f%% of the best note's relevance %.2f", e.Relevance,
				100*minShareOfBest, best)
		}
	}
	taken := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !e.Selected })
	slices.SortStableFunc(taken, func(a, b Entry) int { return cmp.Compare(b.Relevance, a.Relevance) })
	return taken
}
