package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/project"
)

func newProjectCommand(a *app) *cobra.Command {
	var asJSON, all, refresh bool
	cmd := &cobra.Command{
		Use:   "project [DIR]",
		Short: "List the versions that a project uses",
		Long: `List the packages, tools and images that a project uses, with their versions. DIR
is the working directory by default.

The versions come from the lock files and manifests in DIR and in the folders above
it, up to the root of the repository. Of each ecosystem, the nearest file decides.
Nothing is run and nothing is downloaded.`,
		Example: `  docsearch project
  docsearch project ~/src/shop --all --json`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			p, err := project.Read(dir, config.Home(os.Getenv))
			if err != nil {
				return err
			}
			if refresh {
				return writeProjectSnapshot(config.Locate(os.Getenv), p)
			}
			if !all {
				p.Dependencies = p.Direct()
			}
			if asJSON {
				enc := json.NewEncoder(a.stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(p)
			}
			for _, problem := range p.Problems {
				a.warn("%s", problem)
			}
			return printProject(a.stdout, p)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list indirect dependencies, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "")
	cmd.Flags().MarkHidden("refresh")
	return cmd
}

func printProject(w io.Writer, p *project.Project) error {
	if len(p.Dependencies) == 0 {
		_, err := fmt.Fprintf(w, "no lock file or manifest found in %s\n", p.Dir)
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PACKAGE\tVERSION\tFILE")
	for _, d := range p.Dependencies {
		version := d.Version
		switch {
		case version == "" && d.Constraint != "":
			version = "(" + d.Constraint + ")"
		case version == "":
			version = "-"
		}
		name := d.ID()
		if !d.Direct {
			name += " (indirect)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", printable(name), printable(version), printable(d.File))
	}
	return table.Flush()
}
