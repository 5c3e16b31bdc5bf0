package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
)

func newIgnoreCommand(a *app) *cobra.Command {
	cmd := newChoiceCommand(a, true)
	cmd.Use, cmd.Short = "ignore NAME...", "Switch databases off in this project"
	cmd.Long = `Switch databases off in the project of the working directory: the hook, the server and
docsearch search do not use them there. In all other folders, they answer as before.

The choice is stored outside the project, in docsearch's data folder. It applies to the
whole repository, with its worktrees. To undo it, run docsearch use NAME. To switch
databases off for one session, set DOCSEARCH_IGNORE to their names, separated by commas,
or to "*" for all. A project can list names in .docsearch/settings.json: {"ignore": ["django"]}`
	cmd.Example = "  docsearch ignore django\n  DOCSEARCH_IGNORE=django,react claude"
	return cmd
}

func newUseCommand(a *app) *cobra.Command {
	cmd := newChoiceCommand(a, false)
	cmd.Use, cmd.Short = "use NAME...", "Switch databases on again in this project"
	cmd.Long = `Switch databases on again that docsearch ignore has switched off in the project of the
working directory.`
	cmd.Example = "  docsearch use django"
	return cmd
}

// newChoiceCommand returns the command that makes databases answer in a project, or not.
func newChoiceCommand(a *app, ignored bool) *cobra.Command {
	return &cobra.Command{
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s needs the name of a database", cmd.Name())
			}
			return nil
		},
		ValidArgsFunction: completeAnyDatabase,
		RunE: func(_ *cobra.Command, names []string) error {
			l := config.Locate(os.Getenv)
			all, err := library.List(l)
			if err != nil {
				return err
			}
			known := collect(all, func(d library.Ref) string { return d.Name })
			remotes := served.OpenRemotes(l)
			defer remotes.Close()
			known = append(known, collect(remotes.Databases(), func(d served.Remote) string { return d.Name })...)
			project, err := library.SetIgnored(l, ".", known, names, ignored)
			if err != nil {
				return err
			}
			list := printable(strings.Join(names, ", "))
			if ignored {
				_, err := fmt.Fprintf(a.stdout, "off in %s: %s\n", printable(project), list)
				return err
			}
			fmt.Fprintf(a.stdout, "on in %s: %s\n", printable(project), list)
			return a.warnIgnored(l, names)
		},
	}
}

// warnIgnored warns of databases that are switched on and still do not answer here.
func (a *app) warnIgnored(l config.Locations, names []string) error {
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	r.Config.RemoveIgnored(cwd)
	for _, name := range names {
		if by := r.Config.IgnoredBy(name); by != "" {
			a.warn("%s is still off here: %s lists it", name, by)
		}
	}
	return nil
}
