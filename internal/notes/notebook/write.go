package notebook

import (
	"context"
	"fmt"
	"strings"
)

// A Notebook is a folder of notes with the database that indexes it.
type Notebook struct {
	Name, Description string // of the database
	Folder            Folder
	Database          Database
}

// Choose returns the notebook of a database, or the only one if database is "". It returns
// nil if there is none, and the names of the databases of all.
func Choose(all []Notebook, database string) (chosen *Notebook, names []string) {
	for i := range all {
		if chosen == nil && (strings.EqualFold(all[i].Name, database) || database == "" && len(all) == 1) {
			chosen = &all[i]
		}
		names = append(names, all[i].Name)
	}
	return chosen, names
}

// A Database indexes the notes of a folder.
type Database interface {
	// Update indexes the changed notes.
	Update(ctx context.Context) error
	// Similar returns the names of the notes about the same subject, most similar first.
	Similar(fields Fields) ([]string, error)
	// MatchingCalls describes recent tool calls of the project with which the hook
	// would show the note.
	MatchingCalls(ctx context.Context, name string) ([]string, error)
}

// A SimilarError reports that a new note has the subject of existing ones.
type SimilarError struct{ Notes []Note }

func (e *SimilarError) Error() string {
	var names []string
	for i := range e.Notes {
		names = append(names, e.Notes[i].Name)
	}
	return "similar notes exist: " + strings.Join(names, ", ")
}

// A Result is the result of writing a note. The note is stored even if a later
// step fails.
type Result struct {
	Note  Note
	Calls []string // recent calls with which the hook would show the note
	// IndexError is the reason why the hook does not show this version yet.
	IndexError error
}

// Add writes a new note and indexes it. An empty name is derived from the title.
// Unless confirmed is set, its error is a *SimilarError if there are notes about
// the same subject.
func (b *Notebook) Add(ctx context.Context, name string, fields Fields, text string, confirmed bool) (Result, error) {
	if name == "" {
		name = NameFor(fields.Title)
	}
	if !confirmed {
		if err := b.checkSimilar(name, fields); err != nil {
			return Result{}, err
		}
	}
	n, err := b.Folder.Add(name, fields, text)
	return b.finish(ctx, n, err)
}

func (b *Notebook) checkSimilar(name string, fields Fields) error {
	similar, err := b.Database.Similar(fields)
	if err != nil {
		return fmt.Errorf("cannot look for similar notes: %w", err)
	}
	found := &SimilarError{}
	for _, other := range append([]string{name}, similar...) {
		n, err := b.Folder.Read(other)
		if err != nil || len(found.Notes) > 0 && other == name {
			continue // not a note of the folder, or removed since it was indexed
		}
		found.Notes = append(found.Notes, n)
	}
	if len(found.Notes) > 0 {
		return found
	}
	return nil
}

// Update changes a note and indexes it; see Folder.Update.
func (b *Notebook) Update(ctx context.Context, name, version string, fields Fields, text string) (Result, error) {
	n, err := b.Folder.Update(name, version, fields, text)
	return b.finish(ctx, n, err)
}

// Append adds a paragraph to a note and indexes it.
func (b *Notebook) Append(ctx context.Context, name, text string) (Result, error) {
	n, err := b.Folder.Append(name, text)
	return b.finish(ctx, n, err)
}

// finish indexes a written note.
func (b *Notebook) finish(ctx context.Context, n Note, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	r := Result{Note: n}
	if r.IndexError = b.Database.Update(ctx); r.IndexError == nil {
		r.Calls, r.IndexError = b.Database.MatchingCalls(ctx, n.Name)
	}
	return r, nil
}
