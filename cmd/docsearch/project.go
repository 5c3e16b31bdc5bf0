package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
)

// newProjectCommand returns a command that setup --project --dry-run has replaced. The hook runs
// it with --refresh.
func newProjectCommand(a *app) *cobra.Command {
	var asJSON, all, refresh bool
	cmd := a.movedTo("setup --project --dry-run", &cobra.Command{
		Use:   "project [DIR]",
		Short: "List the versions that a project uses, and their databases",
		Long: `List the packages, tools and images that a project uses, with their versions. DIR
is the working directory by default.

The versions come from the lock files and manifests in DIR and in the folders above
it, up to the root of the repository. Of each ecosystem, the nearest file decides.
Nothing is run and nothing is downloaded.`,
		Example: `  docsearch project
  docsearch project ~/src/shop --all --json`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := project.Read(folderOf(args), config.Home(os.Getenv))
			if err != nil {
				return err
			}
			if !all {
				p.Dependencies = p.Direct()
			}
			r, err := load.Load(config.Locate(os.Getenv))
			if err != nil {
				return withHint(err, "run docsearch config check to list all problems")
			}
			r.Config.AddProject(p.Dir)
			databases := doctor.DatabasesOf(p, r.Config.Databases)
			if asJSON {
				return a.printProjectJSON(p, databases)
			}
			for _, problem := range p.Problems {
				a.warn("%s", problem)
			}
			return printProject(a.stdout, p, databases)
		},
	})
	list := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if refresh {
			return library.RefreshProject(folderOf(args))
		}
		return list(cmd, args)
	}
	cmd.Flags().BoolVar(&all, "all", false, "list indirect dependencies, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "")
	cmd.Flags().MarkHidden("refresh")
	return cmd
}

func (a *app) printProjectJSON(p *project.Project, databases []string) error {
	type dependency struct {
		project.Dependency
		Database string `json:"database,omitempty"`
	}
	dependencies := make([]dependency, len(databases))
	for i, name := range databases {
		dependencies[i] = dependency{p.Dependencies[i], name}
	}
	return a.printEscapedJSON(struct {
		*project.Project
		Dependencies []dependency `json:"dependencies"`
	}{p, dependencies})
}

func printProject(w io.Writer, p *project.Project, databases []string) error {
	if len(p.Dependencies) == 0 {
		_, err := fmt.Fprintf(w, "no lock file or manifest found in %s\n", p.Dir)
		return err
	}
	table := terminal.NewTable(w, "PACKAGE\tVERSION\tFILE\tDATABASE")
	for i, d := range p.Dependencies {
		name := d.ID()
		if !d.Direct {
			name += " (indirect)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(name), printable(library.VersionOf(&d)), printable(d.File),
			printable(cmp.Or(databases[i], "-")))
	}
	return table.Flush()
}
