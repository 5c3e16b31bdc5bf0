package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
)

func newIndexRemoveCommand(a *app) *cobra.Command {
	var yes, ofProject bool
	var flags clusterFlags
	cmd := &cobra.Command{
		Use:   "remove NAME|PATH | --project [DIR]",
		Short: "Remove a database that docsearch built",
		Long: `Remove the files that docsearch wrote for a database: its index and, if docsearch
built the passages, the passages and the entry in the config file. For a LEANN
index, only docsearch's own folder is removed, and the entry stays unless you
confirm its removal. Remove never changes the source of the passages.

A database of a project is removed from that project, and its files if no other project
uses them. With --project, remove all databases of the project in DIR, by default the
working directory.

With --cluster, remove a database from a Weaviate cluster instead.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if ofProject {
				return atMostOne(cmd, args)
			}
			return oneArgument("the name or path of a database")(cmd, args)
		},
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if ofProject {
				return a.removeProject(cmd.Context(), strings.Join(args, ""), yes)
			}
			if len(flags.URLs) > 0 {
				return a.removeFromCluster(cmd.Context(), &flags, args[0], yes)
			}
			d, err := a.anyDatabase(args[0])
			if err != nil {
				return served.ExplainElsewhere(err, "index remove")
			}
			return a.remove(cmd.Context(), d, yes)
		},
	}
	flags.add(cmd.Flags(), "cluster", clusterHelp)
	cmd.Flags().BoolVar(&ofProject, "project", false,
		"remove all databases of the project in DIR (default: the working directory)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove without confirmation")
	markExclusive(cmd, "project", "cluster")
	return cmd
}

func (a *app) remove(ctx context.Context, d library.Ref, yes bool) error {
	if d.Project != "" {
		target := "the database " + d.Name + " of the project " + d.Project
		if err := mayRemove(ctx, terminal.NewPrompter(a.stdin, a.stderr), target, yes); err != nil {
			return err
		}
		if err := library.RemoveFromProject(config.Locate(os.Getenv), d.Project, d.Path); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "removed %s\n", target)
		return nil
	}
	dir, err := index.Locate(d.Path)
	if err != nil {
		if !library.IsIncomplete(d.Path) && !library.HasMirror(d.Path) {
			return err
		}
		dir = d.Path // an incomplete first build
	}
	ownsPassages := library.OriginOf(dir).Location != "" || !library.IsDatabase(dir)
	target := "docsearch's index of " + d.Name + " in " + filepath.Join(dir, generation.Folder)
	if ownsPassages {
		target = "the database " + d.Name + " in " + dir
	}
	p := terminal.NewPrompter(a.stdin, a.stderr)
	if err := mayRemove(ctx, p, target, yes); err != nil {
		return err
	}
	if err := library.RemoveFiles(dir, ownsPassages); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "removed %s\n", target)
	if !d.Configured {
		return nil
	}
	return a.removeEntry(ctx, p, d.Name, yes, ownsPassages)
}

// mayRemove asks for confirmation, which requires a terminal or --yes.
func mayRemove(ctx context.Context, p *terminal.Prompter, target string, yes bool) error {
	if yes {
		return nil
	}
	if p == nil {
		return withHint(fmt.Errorf("cannot ask for confirmation to remove %s: stdin is not a terminal", target),
			"pass --yes to remove it without confirmation")
	}
	confirmed, err := p.Confirm(ctx, "remove "+target+"?", false)
	if err == nil && !confirmed {
		err = errors.New("canceled; no files were removed")
	}
	return err
}

// removeEntry removes the entry of a removed database from the config. It keeps
// the entry of a LEANN index, whose files remain, unless the user agrees to
// remove it.
func (a *app) removeEntry(ctx context.Context, p *terminal.Prompter, name string, yes, ownsPassages bool) error {
	path := config.Locate(os.Getenv).Config
	confirmed := ownsPassages
	if !yes {
		var err error
		if confirmed, err = p.Confirm(ctx, "remove the entry "+name+" from "+path+"?", ownsPassages); err != nil {
			return err
		}
	}
	if !confirmed {
		fmt.Fprintf(a.stdout, "%s still has the entry %s\n", path, name)
		return nil
	}
	change, err := agentconfig.Rewrite(path, "the entry "+name,
		func(data []byte) ([]byte, error) { return edit.Remove(path, data, name) })
	if err != nil {
		return withHint(err, "remove the entry %s from %s manually", name, path)
	}
	if err := a.applyChange(change, "remove %s from %s", "removed %s from %s"); err != nil {
		return err
	}
	a.refreshHook(ctx)
	return nil
}
