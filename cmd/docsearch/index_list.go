package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
)

func newIndexListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the databases and their state",
		Long: `List the databases that the config file names and those in docsearch's data
folder, with their state:

  ok             the index is that of the passages
  stale          the passages have changed since it was built
  no index       there are passages, but docsearch has built no index of them
  missing        there is nothing at the path that the config has
  damaged        the index cannot be read
  other version  another version of docsearch built the index`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.list(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) list(asJSON bool) error {
	locations := config.Locate(os.Getenv)
	tidyData(locations)
	all, err := listings(locations)
	if err != nil {
		return err
	}
	tidyEach(all)
	if asJSON {
		list := []infoJSON{}
		for _, d := range all {
			info, state, why := inspect(d.Path)
			if info.Dir == "" {
				info.Dir = d.Path
			}
			list = append(list, newInfoJSON(d.Name, state, why, info))
		}
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "there is no database yet; docsearch index build FOLDER makes one")
		return nil
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tPASSAGES\tDOCUMENTS\tBUILT\tPATH")
	for _, d := range all {
		info, state, _ := inspect(d.Path)
		if info.Generation == "" {
			fmt.Fprintf(table, "%s\t%s\t-\t-\t-\t%s\n", d.Name, state, d.Path)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, state,
			thousands(info.Passages), thousands(info.Documents), info.Created.Local().Format("2006-01-02 15:04"), d.Path)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, d := range all {
		if command := repairOf(d); command != "" {
			fmt.Fprintf(a.stdout, "to bring %s up to date: %s\n", d.Name, command)
		}
	}
	return nil
}

// repairOf is the command that brings the database's index into order, if it
// is not and one would.
func repairOf(d listing) string {
	_, state, _ := inspect(d.Path)
	switch state {
	case stateStale:
		return "docsearch index update " + quoteArgument(d.Path)
	case stateNone:
		return "docsearch index build " + quoteArgument(d.Path)
	case stateOK, stateMissing:
		return ""
	}
	db, err := index.Open(d.Path)
	if err == nil {
		db.Close()
	}
	return index.Repair(quoteArgument(d.Path), err)
}
