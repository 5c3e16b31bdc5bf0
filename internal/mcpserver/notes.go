package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes/notebook"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxWrites is the number of notes that clients of a server may write per
	// writePeriod.
	maxWrites   = 20
	writePeriod = time.Minute
	// maxQuotedNote limits the text of a similar note in a result, in bytes.
	maxQuotedNote = 2000
	// maxMatchingCalls limits the matching calls in a result.
	maxMatchingCalls = 5
)

// A writeLimit limits the rate of writes.
type writeLimit struct {
	mu     sync.Mutex
	recent []time.Time // of the writes in the last period, oldest first
}

// take records a write, or returns an error if there were too many.
func (l *writeLimit) take(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent = slices.DeleteFunc(l.recent, func(t time.Time) bool { return now.Sub(t) >= writePeriod })
	if len(l.recent) >= maxWrites {
		return fmt.Errorf("cannot write more than %d notes per minute; try again in a minute", maxWrites)
	}
	l.recent = append(l.recent, now)
	return nil
}

// offersNotes reports whether the config names folders in which clients may write.
func (s *Server) offersNotes() bool { return s.notebooks != nil && len(s.notebooks()) > 0 }

// noteTools returns the tools that write notes. They are offered only if the
// config names a folder, and clients ask the user before each call.
func (s *Server) noteTools() []tool {
	return []tool{{
		name: "note_add", title: "Add a note", writes: true,
		searchHint:  "remember save write team note convention rule lesson learned correction",
		description: instructionTexts.Text("note_add"),
		call:        s.noteAddTool,
	}, {
		name: "note_update", title: "Change a note", writes: true, destructive: true,
		searchHint:  "change correct rewrite team note",
		description: instructionTexts.Text("note_update"),
		call:        s.noteUpdateTool,
	}, {
		name: "note_append", title: "Append to a note", writes: true,
		searchHint:  "extend add to team note",
		description: instructionTexts.Text("note_append"),
		call:        s.noteAppendTool,
	}}
}

// noteArguments are the arguments of the tools that write notes.
type noteArguments struct {
	database, name, version, text        string
	title                                string
	tags, paths, commands, languages, in []string
	confirmed                            bool
}

func (a *noteArguments) fields() notebook.Fields {
	return notebook.Fields{Title: a.title, Tags: a.tags,
		AppliesWhen: passage.AppliesWhen{Tools: a.in, Paths: a.paths, Commands: a.commands, Languages: a.languages}}
}

func (a *noteArguments) databaseParam() param {
	return param{name: "database", target: &a.database,
		description: "Database of notes; required if there are several.", aliases: []string{"db"}}
}

// contents returns the params of a note's contents.
func (a *noteArguments) contents() []param {
	return []param{
		{name: "tags", target: &a.tags, description: "Subjects of the note."},
		{name: "commands", target: &a.commands,
			description: `The note applies to commands that start with one of these, for example "git commit".`},
		{name: "paths", target: &a.paths,
			description: `The note applies to files that match one of these patterns, for example "**/*.sql".`,
			aliases:     []string{"globs", "files"}},
		{name: "languages", target: &a.languages,
			description: `The note applies to files and programs of one of these languages, for example "go".`,
			aliases:     []string{"language"}},
		{name: "tools", target: &a.in,
			description: `The note applies to calls of one of these tools, for example "Edit".`},
		a.databaseParam(),
	}
}

func (s *Server) noteAddTool() ([]param, func(context.Context) (string, error)) {
	var a noteArguments
	params := append([]param{
		{name: "title", target: &a.title, required: true, description: "Subject of the note, in one line."},
		{name: "text", target: &a.text, required: true, description: "Text of the note, in Markdown.",
			aliases: []string{"content", "body"}},
		{name: "name", target: &a.name,
			description: `File name, for example "git-commits.md". Default: derived from the title.`},
		{name: "confirm_new", target: &a.confirmed, description: "Write the note although similar notes exist."},
	}, a.contents()...)
	return params, func(ctx context.Context) (string, error) {
		return s.writeNote(a.database, "Added", func(b *notebook.Notebook) (notebook.Result, error) {
			return b.Add(ctx, a.name, a.fields(), a.text, a.confirmed)
		})
	}
}

func (s *Server) noteUpdateTool() ([]param, func(context.Context) (string, error)) {
	var a noteArguments
	params := append([]param{
		{name: "name", target: &a.name, required: true, description: "Name of the note."},
		{name: "version", target: &a.version, description: "Version of the note that you have read."},
		{name: "title", target: &a.title, description: "New title."},
		{name: "text", target: &a.text, description: "New text in Markdown, in place of the old one.",
			aliases: []string{"content", "body"}},
	}, a.contents()...)
	return params, func(ctx context.Context) (string, error) {
		if a.version == "" {
			b, err := s.notebook(a.database)
			if err != nil {
				return "", err
			}
			n, err := b.Folder.Read(a.name)
			if err != nil {
				return "", noteError(err)
			}
			return resultTexts.Text("version-needed") + "\n\n" + quoteNote(&n, notebook.MaxBytes), nil
		}
		return s.writeNote(a.database, "Updated", func(b *notebook.Notebook) (notebook.Result, error) {
			return b.Update(ctx, a.name, a.version, a.fields(), a.text)
		})
	}
}

func (s *Server) noteAppendTool() ([]param, func(context.Context) (string, error)) {
	var a noteArguments
	params := []param{
		{name: "name", target: &a.name, required: true, description: "Name of the note."},
		{name: "text", target: &a.text, required: true, description: "Paragraph to add, in Markdown.",
			aliases: []string{"content", "body"}},
		a.databaseParam(),
	}
	return params, func(ctx context.Context) (string, error) {
		return s.writeNote(a.database, "Appended to", func(b *notebook.Notebook) (notebook.Result, error) {
			return b.Append(ctx, a.name, a.text)
		})
	}
}

// writeNote writes a note and describes the result.
func (s *Server) writeNote(database, verb string,
	write func(*notebook.Notebook) (notebook.Result, error)) (string, error) {
	b, err := s.notebook(database)
	if err != nil {
		return "", err
	}
	if err := s.writes.take(time.Now()); err != nil {
		return "", err
	}
	r, err := write(b)
	var similar *notebook.SimilarError
	switch {
	case errors.As(err, &similar):
		return describeSimilar(similar.Notes), nil
	case err != nil:
		return "", noteError(err)
	}
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s in %s (version %s).\n", verb, r.Note.Name, b.Name, r.Note.Version)
	for _, p := range r.Note.Problems {
		fmt.Fprintf(&w, "Problem: %s\n", singleLine(p))
	}
	switch {
	case r.IndexError != nil:
		w.WriteString(resultTexts.Text("not-indexed", "problem", r.IndexError.Error()) + "\n")
	case len(r.Calls) == 0:
		w.WriteString(resultTexts.Text("no-matching-calls") + "\n")
	default:
		w.WriteString(resultTexts.Text("matching-calls") + "\n")
		for _, call := range r.Calls[:min(len(r.Calls), maxMatchingCalls)] {
			fmt.Fprintf(&w, "- %s\n", singleLine(call))
		}
		if more := len(r.Calls) - maxMatchingCalls; more > 0 {
			fmt.Fprintf(&w, "- and %d more\n", more)
		}
	}
	return w.String(), nil
}

// notebook returns the writable notes of a database, or the only ones.
func (s *Server) notebook(database string) (*notebook.Notebook, error) {
	chosen, names := notebook.Choose(s.notebooks(), database)
	switch {
	case chosen != nil:
		return chosen, nil
	case len(names) == 0:
		return nil,
			errors.New("no folder of notes is configured; the user sets \"notes\" in the config entry of a database")
	case database == "":
		return nil, fmt.Errorf("database is required; databases of notes: %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%q is not a database of notes; databases of notes: %s", database, strings.Join(names, ", "))
}

// noteError adds the next step to an error.
func noteError(err error) error {
	if errors.Is(err, notebook.ErrChanged) {
		return fmt.Errorf("%w; call note_update without version to read the note", err)
	}
	if errors.Is(err, notebook.ErrExists) {
		return fmt.Errorf("%w; choose another name, or call note_update", err)
	}
	return err
}

func describeSimilar(similar []notebook.Note) string {
	var w strings.Builder
	w.WriteString(resultTexts.Text("similar-notes",
		"notes", humanize.Count(len(similar), "note")+verbFor(len(similar))) + "\n")
	for i := range similar {
		w.WriteString("\n" + quoteNote(&similar[i], maxQuotedNote))
	}
	return w.String()
}

func verbFor(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// quoteNote quotes a note, up to limit bytes of its text.
func quoteNote(n *notebook.Note, limit int) string {
	text := n.Text
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + " [...]"
	}
	return fmt.Sprintf("%s (version %s): %s\n%s\n", n.Name, n.Version, safetext.Name(n.Fields.Title),
		safetext.Fenced(safetext.Block(n.Front+text)))
}
