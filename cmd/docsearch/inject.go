package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/explain"
	"github.com/docsearch/docsearch/internal/notes"
)

// newInjectCommand returns the old names of commands.
func newInjectCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{Use: "inject", Short: "Explain which notes the hook adds to a session"})
	shown := newNoteShownCommand(a)
	shown.Use = "trace [SESSION]"
	cmd.AddCommand(a.movedTo("note shown", shown), a.movedTo("why EVENT.json", withJSON(&cobra.Command{
		Use:   "explain EVENT.json",
		Short: "Show the text that the hook adds for an event",
		Args:  oneArgument("an event file, or - for standard input"),
	}, func(_ *cobra.Command, args []string, asJSON bool) error { return a.whyEvent(args[0], asJSON) })))
	return cmd
}

// readEvent reads a hook event from a file, or from stdin for "-".
func (a *app) readEvent(name string) (event.Event, error) {
	data, err := a.readInput(name)
	if err != nil {
		return event.Event{}, err
	}
	if name == "-" {
		name = "standard input"
	}
	e, err := event.Parse(data)
	if err != nil {
		return event.Event{},
			withHint(fmt.Errorf("%s: %w", name, err), "pass one hook event, a JSON object, in a file or on standard input")
	}
	return e, nil
}

// readInput reads a file, or stdin for "-".
func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.stdin)
	}
	return os.ReadFile(name)
}

// whyEvent explains what the hook adds to a session with an event.
func (a *app) whyEvent(file string, asJSON bool) error {
	e, err := a.readEvent(file)
	if err != nil {
		return err
	}
	out, err := explain.Event(e, a.warn)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(out)
	}
	return a.printInjection(out)
}

func (a *app) printInjection(out *explain.Injection) error {
	var b strings.Builder
	fmt.Fprintf(&b, "event  %s", out.Event)
	if out.Tool != "" {
		fmt.Fprintf(&b, " of %s", out.Tool)
	}
	b.WriteByte('\n')
	if out.Denied {
		b.WriteString("the call is denied, so the hook adds no notes\n")
	}
	if out.Query != "" {
		fmt.Fprintf(&b, "query  %s\n", out.Query)
	}
	for _, e := range out.Entries {
		verb := "skipped "
		if e.Selected {
			verb = "selected"
		}
		fmt.Fprintf(&b, "\n%s  %.2f  %s: %s (%s)\n", verb, e.Relevance, e.Database, e.Title, e.Document)
		fmt.Fprintf(&b, "                %s\n", e.Reason)
		if e.Selected && e.AlreadyShown {
			b.WriteString("                already shown in this session\n")
		}
	}
	if len(out.Entries) > 0 {
		b.WriteByte('\n')
	}
	if out.Text == "" {
		b.WriteString("the hook adds no text\n")
	} else {
		fmt.Fprintf(&b, "the hook adds %s:\n\n%s\n", count(out.Chars, "character"), out.Text)
	}
	return a.write(&b)
}

func newNoteShownCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "shown [SESSION]",
		Short: "List the notes that the hook added to a session",
		Long: `List the notes that the hook added to a session, with their times. Without
SESSION, list the sessions that received notes. The session id is in the hook
events and in the file name of the transcript.`,
		Args: atMostOne,
	}, func(_ *cobra.Command, args []string, asJSON bool) error {
		store := notes.Store{Dir: config.Locate(os.Getenv).State}
		if len(args) == 0 {
			return a.listSessions(store, asJSON)
		}
		records, err := store.Read(args[0])
		if err != nil {
			return err
		}
		if len(records) == 0 {
			return withHint(fmt.Errorf("session %q not found: the hook added no notes to it", args[0]),
				"run docsearch note shown to list sessions with notes")
		}
		return a.printTrace(records, asJSON)
	})
}

func (a *app) listSessions(store notes.Store, asJSON bool) error {
	names, err := store.Sessions()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(append([]string{}, names...))
	}
	if len(names) == 0 {
		_, err = fmt.Fprintln(a.stdout, "no sessions with notes")
		return err
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(a.stdout, name); err != nil {
			return err
		}
	}
	return nil
}

// recordJSON is the JSON form of a line in a session's trace.
type recordJSON struct {
	At       time.Time `json:"at"`
	What     string    `json:"what"`
	Agent    string    `json:"agent,omitempty"`
	Event    string    `json:"event"`
	Tool     string    `json:"tool,omitempty"`
	Database string    `json:"database,omitempty"`
	Key      string    `json:"key,omitempty"`
	Title    string    `json:"title,omitempty"`
	Bytes    int       `json:"bytes,omitempty"`
}

func (a *app) printTrace(records []notes.Record, asJSON bool) error {
	if asJSON {
		return a.printJSON(collect(records, func(r notes.Record) recordJSON {
			return recordJSON{r.At, r.Kind, r.Agent, r.Event, r.Tool, r.Database, r.Key, r.Title, r.Bytes}
		}))
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, r := range records {
		text := r.Kind
		if r.Title != "" {
			text = r.Title
			if r.Database != "" {
				text = r.Database + ": " + text
			}
			text += " (" + size(int64(r.Bytes)) + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.At.Format(time.DateTime), cmp.Or(r.Agent, "main"),
			strings.TrimSpace(r.Event+" "+r.Tool), text)
	}
	return table.Flush()
}
