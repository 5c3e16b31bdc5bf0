package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/web/machine"
)

func newIndexInfoCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "info NAME|PATH",
		Short: "Show a database's source, age, size, and skipped files",
		Long: `Show a database's source, age, counts, and sizes. List each file or page that has
no passages, with the reason. For a database on a team server or in a Weaviate cluster,
ask that for the counts.`,
		Args:              oneArgument("the name or path of a database"),
		ValidArgsFunction: completeAnyDatabase,
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		d, err := a.database(args[0])
		if elsewhere, ok := errors.AsType[*served.ElsewhereError](err); ok {
			return a.remoteInfo(cmd.Context(), elsewhere.Ref, asJSON)
		}
		if err != nil {
			return err
		}
		library.CleanUpEach([]library.Ref{d})
		return a.info(d, asJSON)
	})
}

// database resolves a database argument.
func (a *app) database(arg string) (library.Ref, error) {
	all, err := library.List(config.Locate(os.Getenv))
	if err != nil {
		return library.Ref{}, err
	}
	return findDatabase(all, arg)
}

func (a *app) info(d library.Ref, asJSON bool) error {
	info, state, why := library.Inspect(d.Path)
	if info.Generation == "" { // unreadable
		_, err := index.Inspect(d.Path)
		return library.WithRepair(d.Path, err)
	}
	skipped, err := ingest.ReadSkipped(library.GenerationOf(info))
	if err != nil {
		return err
	}
	info.Skipped = skipped
	if asJSON {
		j := machine.NewInfo(d.Name, state, why, info)
		j.Threshold = a.adaptedThreshold(d)
		return a.printEscapedJSON(j)
	}
	a.printRow("name", "%s", d.Name)
	a.printRow("path", "%s", info.Dir)
	if why != "" {
		a.printRow("state", "%s: %s", state, why)
	} else {
		a.printRow("state", "%s", state)
	}
	a.printRow("source", "%s", machine.SourceOf(info))
	if pages := machine.MirrorStats(info); pages != "" {
		a.printRow("fetched", "%s", pages)
	}
	if found, err := library.FindLEANN(info); err == nil && found.Meta.Backend != "" && found.Meta.Origin == nil {
		m := found.Meta
		a.printRow("LEANN", "version %s, %s, %s, %s", m.Version, m.Backend, m.EmbeddingModel,
			count(m.Dimensions, "dimension"))
	}
	a.printRow("built", "%s (%s) by docsearch %s", info.Created.Local().Format("2006-01-02 15:04"),
		age(time.Since(info.Created)), info.Tool)
	if info.Checked.After(info.Created) {
		a.printRow("checked", "%s (%s): no changes", info.Checked.Local().Format("2006-01-02 15:04"),
			age(time.Since(info.Checked)))
	}
	a.printRow("passages", "%s of %s, %s of text", thousands(info.Passages), count(info.Documents, "document"),
		size(info.TextBytes))
	if e := info.Edition; e != nil {
		a.printRow("version", "%s, from the pages' %s", printable(e.Version), printable(strings.Join(e.Evidence, " and ")))
	}
	if info.Language != "" {
		a.printRow("language", "%s", printable(info.Language))
	}
	a.printRow("index", "%s in %s", size(info.Bytes), info.Generation)
	if info.Embedder != nil {
		a.printRow("vectors", "%s, %s%s", info.Embedder.Name, count(info.Embedder.Dimensions, "dimension"),
			recallOf(info.Recall))
	} else {
		a.printRow("vectors", "none")
	}
	if e := info.Provided; e != nil {
		a.printRow("embedder", "%s, %s%s", e.Name, count(e.Dimensions, "dimension"), recallOf(&e.Recall))
	}
	if c := info.Confidence; c != nil {
		a.printRow("confidence", "threshold %.2f, reached by %.0f%% of %s from the database's own text", c.Threshold,
			100*c.Recall, count(c.Sample, "test query"))
	}
	if t := a.adaptedThreshold(d); t != nil && t.Denials > 0 {
		a.printRow("threshold", "%.2f, %s", t.Threshold, t.Origin())
	}
	if len(info.Skipped) > 0 {
		a.printRow("skipped", "%d", len(info.Skipped))
		for _, s := range info.Skipped {
			fmt.Fprintf(a.stdout, "  %s: %s\n", printable(s.Name), printable(s.Reason))
		}
	}
	return nil
}

// printRow prints a property of a database.
func (a *app) printRow(name, format string, args ...any) {
	fmt.Fprintf(a.stdout, "%-10s %s\n", name, fmt.Sprintf(format, args...))
}

// adaptedThreshold returns the confidence threshold of a database in the config, or nil if
// thresholds do not adapt.
func (a *app) adaptedThreshold(d library.Ref) *machine.Threshold {
	l := config.Locate(os.Getenv)
	if !d.Configured || l.State == "" {
		return nil
	}
	r, err := load.Load(l)
	if err != nil || !r.Config.Hook.Adapt {
		return nil
	}
	all, err := adapt.Store{Dir: l.State}.Read()
	if err != nil {
		a.warn("%v", err)
		return nil
	}
	i := slices.IndexFunc(r.Config.Databases, func(db config.Database) bool { return db.Name == d.Name })
	if i < 0 {
		return nil
	}
	return machine.ThresholdOf(&r.Config.Databases[i], all)
}

func recallOf(r *generation.Recall) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(", recall@%d %.4f on %s", r.At, r.Value, count(r.Sample, "test query"))
}

// printSkipped prints the first few skipped files and invalid front matter fields.
// It omits split blocks, because nothing of them is skipped.
func printSkipped(w io.Writer, skipped []generation.Skipped, all string) {
	skipped = slices.DeleteFunc(slices.Clone(skipped), func(s generation.Skipped) bool { return chunk.IsSplit(s.Reason) })
	heads := slices.DeleteFunc(slices.Clone(skipped),
		func(s generation.Skipped) bool { return !markdown.IsFrontMatterProblem(s) })
	printFew(w, "skipped:", slices.DeleteFunc(slices.Clone(skipped), markdown.IsFrontMatterProblem), all)
	printFew(w, "check the front matter:", heads, all)
}

func printFew(w io.Writer, title string, skipped []generation.Skipped, all string) {
	const few = 10
	if len(skipped) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintln(w, title)
	}
	for i, s := range skipped {
		if i == few {
			fmt.Fprintf(w, "  %d more; to list them, run: %s\n", len(skipped)-few, all)
			return
		}
		fmt.Fprintf(w, "  %s: %s\n", printable(s.Name), printable(markdown.FrontMatterProblem(s)))
	}
}
