package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/site"
)

func newIndexRemoveCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "remove NAME|PATH",
		Short: "Remove a database that docsearch made",
		Long: `Remove what docsearch made of a database: its index and, if docsearch made the
passages too, those. Of a LEANN index only docsearch's own folder goes. What the
passages were made from is never touched.`,
		Args:              oneArgument("the name or path of a database"),
		ValidArgsFunction: completeDatabases,
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := a.database(args[0])
			if err != nil {
				return err
			}
			return a.remove(d, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) remove(d listing, yes bool) error {
	dir, err := index.Locate(d.Path)
	if err != nil {
		if _, statErr := os.Stat(filepath.Join(d.Path, disk.Folder)); statErr != nil {
			return err
		}
		dir = d.Path // an index without a manifest: a first build that died
	}
	origin := originOf(dir)
	made := origin.Location != ""
	what := "docsearch's index of " + d.Name + " in " + filepath.Join(dir, disk.Folder)
	if made {
		what = "the database " + d.Name + " in " + dir
	}
	if !yes {
		if err := a.confirm("remove " + what); err != nil {
			return err
		}
	}
	if err := disk.Remove(dir); err != nil && !(made && errors.Is(err, disk.ErrNoIndex)) {
		if errors.Is(err, disk.ErrNoIndex) {
			return withHint(err, "there is nothing of docsearch's to remove")
		}
		return err
	}
	if err := site.Remove(filepath.Join(dir, ingest.MirrorName)); err != nil {
		return err
	}
	if ingest.IsCopy(origin.Kind) {
		if err := ingest.RemoveCopy(dir); err != nil {
			return err
		}
	}
	if made {
		if err := leann.Unpublish(dir); err != nil {
			return err
		}
	}
	os.Remove(dir) // fails where somebody keeps something there
	fmt.Fprintf(a.stdout, "removed %s\n", what)
	if d.Configured {
		fmt.Fprintf(a.stdout, "the config still names %s\n", d.Name)
	}
	return nil
}

// confirm asks the user at a terminal; elsewhere there is nobody to ask.
func (a *app) confirm(question string) error {
	f, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return withHint(fmt.Errorf("not asked whether to %s", question), "--yes does it without asking")
	}
	fmt.Fprintf(a.stderr, "%s? [y/N] ", question)
	answer, _ := bufio.NewReader(f).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was removed")
}
