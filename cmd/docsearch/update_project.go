package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
)

// projectLock is the file in the cache folder that a background process locks to build the
// databases of a project's packages.
const projectLock = "project.lock"

// runProject builds databases of the packages whose versions have changed in a project,
// and updates the project's snapshot.
func (u *updateCommand) runProject(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return usagef("cannot update %d projects: want one folder", len(args))
	}
	dir := folderOf(args)
	if u.background || u.isDetached {
		cache, err := library.CacheFolder()
		if err != nil {
			return err
		}
		if u.background {
			if dir, err = filepath.Abs(dir); err != nil {
				return err
			}
			return background.Start(cache, []string{"update", "--project", "--detached", dir})
		}
		refresh, err := library.BeginRefresh(config.Locate(os.Getenv), dir, library.UpdateTime)
		if err != nil || refresh == nil {
			return err
		}
		defer refresh.Unlock()
		const patience = 10 * time.Minute // another project's packages are built first
		lock, err := filelock.Acquire(filepath.Join(cache, projectLock), patience)
		if err != nil {
			return err
		}
		defer lock.Unlock()
	}
	p, err := project.Read(dir, config.Home(os.Getenv))
	if err != nil {
		return err
	}
	locations := config.Locate(os.Getenv)
	plan, err := library.PlanProject(ctx, locations, p, true)
	if err != nil {
		return err
	}
	plan.KeepDocumented()
	todo := plan.Todo()
	if len(todo) == 0 {
		if !u.quiet {
			fmt.Fprintln(u.stdout, "no package with a database has a new version that is installed")
		}
		return library.WriteProjectSnapshot(locations, p)
	}
	s := &setupCommand{app: u.app, Steps: terminal.NewSteps(u.stdout), locations: locations}
	s.buildItems(ctx, todo)
	if err := s.registerProject(plan); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return terminal.ErrInterrupted
	}
	return errors.Join(library.WriteProjectSnapshot(locations, p), plan.Failure())
}
