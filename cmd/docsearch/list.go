package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/web/machine"
)

func newListCommand(a *app) *cobra.Command {
	var asJSON, unused bool
	var flags clusterFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List databases and their state",
		Long: `List the databases in the config file and in docsearch's data folder, with their
state, and those of projects with the project's folder. Also list those of the team
servers and Weaviate clusters in the config, with the counts that these report:

  ok             the index matches the passages, or the server answers
  stale          the passages or their source have changed since the build
  no index       the passages have no docsearch index yet
  missing        the path in the config does not exist
  corrupt        the index cannot be read
  other version  the index was built by an incompatible docsearch version
  unreachable    the server or cluster does not answer

A database that does not answer in the working directory is marked, with the reason:
docsearch ignore, or the environment variable DOCSEARCH_IGNORE.

With --unused, list only the databases of packages that no project uses: no project
that had a session in the last 30 days, and not the one in the working directory. A
database of a project is unused if that project does not use it.

With --cluster, list the databases in a Weaviate cluster instead.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(flags.URLs) > 0 {
				return a.listCluster(cmd.Context(), &flags, asJSON)
			}
			return a.list(cmd.Context(), asJSON, unused)
		},
	}
	cmd.Flags().BoolVar(&unused, "unused", false, "list only databases of packages that no project uses")
	flags.add(cmd.Flags(), "cluster", clusterHelp)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	markExclusive(cmd, "cluster", "unused")
	return cmd
}

func (a *app) list(ctx context.Context, asJSON, unused bool) error {
	locations := config.Locate(os.Getenv)
	library.CleanUpDataFolder(locations)
	all, err := library.ListAll(locations, func(err error) { a.warn("%v", err) })
	if err != nil {
		return err
	}
	var remote []served.Info
	if unused {
		all, err = library.Unused(locations, all)
	} else {
		remote = a.describeRemotes(ctx, locations)
	}
	if err != nil {
		return err
	}
	if asJSON {
		list := []machine.Info{}
		for _, d := range all {
			info, state, why := library.Inspect(d.Path)
			if info.Dir == "" {
				info.Dir = d.Path
			}
			entry := machine.NewInfo(d.Name, state, why, info)
			entry.Project, entry.Ignored = d.Project, d.Ignored
			list = append(list, entry)
		}
		for i := range remote {
			list = append(list, newRemoteJSON(&remote[i]))
		}
		return a.printEscapedJSON(list)
	}
	if len(all) == 0 && unused {
		fmt.Fprintln(a.stdout, "projects use all databases of packages")
		return nil
	}
	if len(all)+len(remote) == 0 {
		fmt.Fprintln(a.stdout, "no databases; to add one, run docsearch setup NAME, for example docsearch setup django")
		return nil
	}
	table := terminal.NewTable(a.stdout, "NAME\tSTATE\tPASSAGES\tDOCUMENTS\tBUILT\tPATH")
	for _, d := range all {
		info, state, _ := library.Inspect(d.Path)
		if info.Generation == "" {
			fmt.Fprintf(table, "%s\t%s\t-\t-\t-\t%s\n", d.Name, state, d.Place())
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, state,
			thousands(info.Passages), thousands(info.Documents), info.Created.Local().Format("2006-01-02 15:04"), d.Place())
	}
	for i := range remote {
		fmt.Fprintln(table, remoteRow(&remote[i]))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if unused {
		fmt.Fprintln(a.stdout, "to remove one, run: docsearch index remove NAME")
		return nil
	}
	for _, d := range all {
		if command := library.RepairCommand(d); command != "" {
			fmt.Fprintf(a.stdout, "to bring %s up to date: %s\n", d.Name, command)
		}
	}
	return nil
}
