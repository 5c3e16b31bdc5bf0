package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
)

// anyDatabase resolves a database argument, also to a database of another project than the
// one in the working directory.
func (a *app) anyDatabase(arg string) (library.Ref, error) {
	l := config.Locate(os.Getenv)
	of, err := library.ProjectDatabases(l)
	if err != nil {
		return library.Ref{}, err
	}
	d, err := a.database(arg)
	if err == nil && d.Project == "" { // maybe the path of one
		if i := slices.IndexFunc(of, func(o library.Ref) bool { return library.SamePath(o.Path, d.Path) }); i >= 0 {
			return of[i], nil
		}
	}
	if _, unknown := errors.AsType[*library.NotFoundError](err); !unknown {
		return d, err
	}
	of = slices.DeleteFunc(of, func(o library.Ref) bool { return !strings.EqualFold(o.Name, arg) })
	switch len(of) {
	case 0:
		return d, err
	case 1:
		return of[0], nil
	}
	projects := collect(of, func(o library.Ref) string { return o.Project })
	return d, withHint(fmt.Errorf("several projects have a database %s", arg),
		"run the command in one of their folders: %s", strings.Join(projects, ", "))
}

// removeProject removes all databases of the project in a folder.
func (a *app) removeProject(ctx context.Context, dir string, yes bool) error {
	l := config.Locate(os.Getenv)
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	checkout := dir
	if p, err := project.Read(dir, config.Home(os.Getenv)); err == nil { // else the folder is gone
		checkout = library.CanonicalFolder(p.Checkout)
	}
	r, err := library.ReadRegistration(l, checkout)
	if err != nil {
		return err
	}
	if len(r.Databases) == 0 {
		return withHint(fmt.Errorf("the project %s has no databases of its own", checkout),
			"run docsearch list to list all databases with their projects")
	}
	target := count(len(r.Databases), "database") + " of the project " + checkout
	if err := mayRemove(ctx, terminal.NewPrompter(a.stdin, a.stderr), target, yes); err != nil {
		return err
	}
	if err := library.RemoveFromProject(l, checkout, ""); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "removed %s\n", target)
	return nil
}
