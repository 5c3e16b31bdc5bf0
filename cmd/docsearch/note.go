package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/library/notebooks"
	"github.com/docsearch/docsearch/internal/notes/notebook"
	"github.com/docsearch/docsearch/internal/usererror"
)

func newNoteCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "note",
		Short: "Write and check the notes that the hook shows",
		Long: `Write and check the notes that the hook shows with tool calls. The commands need
the key "notes", a folder, in the config entry of a database. The agent can then
also write notes, with the tools note_add, note_update and note_append; the client
asks you for permission. docsearch does not commit notes to version control.`,
	})
	cmd.AddCommand(newNoteAddCommand(a), newNoteEditCommand(a), newNoteListCommand(a), newNoteCheckCommand(a),
		newNoteShownCommand(a), newNoteCoverageCommand(a))
	return cmd
}

const noteDatabaseHelp = "use the notes of the database `NAME` (default: the only one)"

func newNoteAddCommand(a *app) *cobra.Command {
	var database, name string
	var isNew bool
	var f notebook.Fields
	cmd := &cobra.Command{
		Use:   "add TITLE",
		Short: "Add a note",
		Long: `Add a note and index it. The text is read from standard input. If there are notes
about the same subject, the command lists them and writes nothing, unless you pass
--new.`,
		Example: `  echo "The subject line is in lower case." | docsearch note add "Commit messages" --command "git commit"`,
		Args:    oneArgument("a title"),
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			text, err := io.ReadAll(io.LimitReader(a.stdin, notebook.MaxBytes+1))
			if err != nil {
				return err
			}
			b, err := a.notebook(database)
			if err != nil {
				return err
			}
			f.Title = args[0]
			return a.addNote(cmd.Context(), b, name, f, string(text), isNew)
		},
	}
	w := &f.AppliesWhen
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.Tags, "tag", nil, "add the subject `TAG` (repeatable)")
	flags.StringArrayVar(&w.Commands, "command", nil, "show the note with commands that start with `WORDS` (repeatable)")
	flags.StringArrayVar(&w.Paths, "path", nil, "show the note with files that match `GLOB` (repeatable)")
	flags.StringArrayVar(&w.Languages, "language", nil, "show the note with files and programs in `LANG` (repeatable)")
	flags.StringVar(&name, "name", "", "write the note to the file `NAME` (default: derived from the title)")
	flags.BoolVar(&isNew, "new", false, "add the note although similar notes exist")
	flags.StringVar(&database, "database", "", noteDatabaseHelp)
	return cmd
}

func (a *app) addNote(
	ctx context.Context, b *notebook.Notebook, name string, f notebook.Fields, text string, isNew bool,
) error {
	r, err := b.Add(ctx, name, f, text, isNew)
	var similar *notebook.SimilarError
	switch {
	case errors.As(err, &similar):
		return withHint(err, "run docsearch note edit %s, or pass --new", quoteArgument(similar.Notes[0].Name))
	case errors.Is(err, notebook.ErrExists):
		return withHint(err, "pass --name NAME")
	case err != nil:
		return err
	}
	fmt.Fprintf(a.stdout, "added %s\n", filepath.Join(string(b.Folder), filepath.FromSlash(r.Note.Name)))
	return a.printNote(&r.Note, r.Calls, r.IndexError)
}

func newNoteEditCommand(a *app) *cobra.Command {
	var database string
	cmd := &cobra.Command{
		Use:   "edit NOTE",
		Short: "Edit a note and index it",
		Long:  "Edit a note in the editor that $VISUAL or $EDITOR names, check its front matter, and index it.",
		Args:  oneArgument("a note"),
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			b, err := a.notebook(database)
			if err != nil {
				return err
			}
			return a.editNote(cmd.Context(), b, args[0])
		},
	}
	cmd.Flags().StringVar(&database, "database", "", noteDatabaseHelp)
	return cmd
}

func (a *app) editNote(ctx context.Context, b *notebook.Notebook, name string) error {
	if _, err := b.Folder.Read(name); err != nil {
		return explainNote(err)
	}
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")))
	if len(words) == 0 {
		return withHint(errors.New("cannot edit the note: no editor is set"), "set EDITOR, for example EDITOR=vi")
	}
	cmd := exec.CommandContext(ctx, words[0],
		append(words[1:], filepath.Join(string(b.Folder), filepath.FromSlash(name)))...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, terminal.Stream(a.stdout), terminal.Stream(a.stderr)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot edit the note: %s: %w", words[0], err)
	}
	return a.checkNotes(ctx, b, []string{name})
}

func newNoteListCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the notes in the folders that the config names",
		Args:  noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error { return a.listNotes(asJSON) })
}

// noteJSON is the JSON form of a note in a list.
type noteJSON struct {
	Database    string              `json:"database"`
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Version     string              `json:"version"`
	Tags        []string            `json:"tags,omitempty"`
	AppliesWhen passage.AppliesWhen `json:"applies_when"`
	Problems    []string            `json:"problems,omitempty"`
}

func (a *app) listNotes(asJSON bool) error {
	all, err := a.notebooks()
	if err != nil {
		return err
	}
	list := []noteJSON{}
	for i := range all {
		names, err := all[i].Folder.List()
		if err != nil {
			return explainNote(err)
		}
		for _, name := range names {
			n, err := all[i].Folder.Read(name)
			if err != nil {
				a.warn("%s: %s", name, usererror.Reason(err))
				continue
			}
			list = append(list,
				noteJSON{all[i].Name, n.Name, n.Fields.Title, n.Version, n.Fields.Tags, n.Fields.AppliesWhen, n.Problems})
		}
	}
	if asJSON {
		return a.printJSON(list)
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, n := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\n", n.Database, n.Name, printable(n.Title))
	}
	return table.Flush()
}

func newNoteCheckCommand(a *app) *cobra.Command {
	var database string
	cmd := &cobra.Command{
		Use:   "check [NOTE]...",
		Short: "Check notes and show the recent calls that match them",
		Long: `Index the notes, report problems in their front matter, and show the recent tool
calls of this project with which the hook would show each note. Without NOTE, check
all notes. The calls come from Claude Code's transcripts of the last 30 days.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			b, err := a.notebook(database)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if args, err = b.Folder.List(); err != nil {
					return explainNote(err)
				}
			}
			return a.checkNotes(cmd.Context(), b, args)
		},
	}
	cmd.Flags().StringVar(&database, "database", "", noteDatabaseHelp)
	return cmd
}

// checkNotes indexes the notes and prints each with its problems and calls.
func (a *app) checkNotes(ctx context.Context, b *notebook.Notebook, names []string) error {
	var list []notebook.Note
	for _, name := range names {
		n, err := b.Folder.Read(name)
		if err != nil {
			return explainNote(err)
		}
		list = append(list, n)
	}
	if err := b.Database.Update(ctx); err != nil {
		return err
	}
	problems := 0
	for i := range list {
		calls, err := b.Database.MatchingCalls(ctx, list[i].Name)
		if err != nil {
			return err
		}
		problems += len(list[i].Problems)
		fmt.Fprintf(a.stdout, "%s: %s\n", list[i].Name, printable(list[i].Fields.Title))
		if err := a.printNote(&list[i], calls, nil); err != nil {
			return err
		}
	}
	return failureIf(problems > 0)
}

// printNote prints the problems of a note and the calls that match it.
func (a *app) printNote(n *notebook.Note, calls []string, indexError error) error {
	for _, p := range n.Problems {
		fmt.Fprintf(a.stdout, "  problem: %s\n", printable(p))
	}
	if indexError != nil {
		return fmt.Errorf("the note is stored, but not indexed: %w", indexError)
	}
	if len(calls) == 0 {
		fmt.Fprintln(a.stdout, "  no recent tool calls of this project match")
	}
	for _, call := range calls {
		fmt.Fprintf(a.stdout, "  matches: %s\n", printable(strings.Join(strings.Fields(call), " ")))
	}
	return nil
}

// notebooks returns the folders of notes, at least one.
func (a *app) notebooks() ([]notebook.Notebook, error) {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return nil, err
	}
	all := notebooks.Of(&r.Config, quietBuilder(a))
	if len(all) == 0 {
		return nil, withHint(fmt.Errorf("no folder of notes is configured in %s", l.Config),
			`add "notes": "FOLDER" to the entry of a database`)
	}
	return all, nil
}

// notebook returns the folder of notes of a database, or the only one.
func (a *app) notebook(database string) (*notebook.Notebook, error) {
	all, err := a.notebooks()
	if err != nil {
		return nil, err
	}
	chosen, names := notebook.Choose(all, database)
	list := strings.Join(names, ", ")
	switch {
	case chosen != nil:
		return chosen, nil
	case database == "":
		return nil, withHint(usagef("the config has several folders of notes: %s", list), "pass --database NAME")
	}
	return nil, withHint(usagef("database %q has no folder of notes", database), "databases with notes: %s", list)
}

// explainNote adds a hint to the error for a note that does not exist.
func explainNote(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return withHint(err, "run docsearch note list")
	}
	return err
}
