package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/project"
)

// runProject sets up the databases of a project's direct dependencies.
func (s *setupCommand) runProject(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return usagef("cannot set up %d folders: want one", len(args))
	}
	for _, flag := range []string{"type", "name", "out", "keywords", "urls", "description"} {
		if s.builder.Set(flag) {
			return usagef("cannot use --%s with --project", flag)
		}
	}
	if err := s.prepare(); err != nil {
		return err
	}
	p, err := project.Read(folderOf(args), config.Home(os.Getenv))
	if err != nil {
		return err
	}
	for _, problem := range p.Problems {
		s.warn("%s", problem)
	}
	if len(p.Direct()) == 0 {
		return withHint(fmt.Errorf("no lock file or manifest found in %s", p.Dir),
			"run docsearch setup NAME to set up the documentation of a framework or tool")
	}
	plan, err := library.PlanProject(ctx, s.locations, p, s.offline)
	if err != nil {
		return err
	}
	if err := plan.Print(s.stdout); err != nil {
		return err
	}
	if s.dryRun {
		return nil
	}
	if question := plan.Question(); question != "" {
		agreed, err := s.prompter.Agree(ctx, question, s.yes)
		if err != nil {
			return err
		}
		if !agreed {
			return withHint(errors.New("nothing was built"), "pass --offline to use only documentation on this machine")
		}
	}
	return s.runSteps(ctx,
		func(ctx context.Context) error { return s.buildProject(ctx, plan) },
		s.installClients,
		func(context.Context) error { s.summarizeProject(plan); return plan.Failure() })
}

// folderOf returns the folder of a project: the argument, or the working directory.
func folderOf(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return "."
}

// buildProject builds the databases, several at once, and registers them for the project. The
// failure of one does not affect the others.
func (s *setupCommand) buildProject(ctx context.Context, plan *library.ProjectPlan) error {
	todo := plan.Todo()
	if len(todo) > 0 {
		s.Step("Build the databases")
		fmt.Fprintln(s.stdout)
		s.buildItems(ctx, todo)
		if ctx.Err() != nil {
			// The finished ones stay, so that the next run need not build them again.
			if err := s.registerProject(plan); err != nil {
				return err
			}
			return terminal.ErrInterrupted
		}
	}
	if err := s.registerProject(plan); err != nil {
		return err
	}
	return library.WriteProjectSnapshot(s.locations, plan.Project)
}

// buildItems builds the databases in parallel with one display.
func (s *setupCommand) buildItems(ctx context.Context, todo []*library.ProjectItem) {
	display := progress.New(s.stderr, progress.StyleFor(s.stderr))
	start := time.Now()
	failed := library.BuildItems(ctx, todo, quietBuilder(s.app), display.Func())
	display.Close()
	if ctx.Err() != nil {
		return
	}
	for _, item := range todo {
		switch {
		case item.Err != nil:
			s.warn("%s: %v", item.ID(), item.Err)
		case item.Skipped != nil:
			s.warn("%s: indexed the installed package, because the download failed: %v", item.ID(), item.Skipped)
		}
	}
	fmt.Fprintf(s.stdout, "built %d of %s in %s\n", len(todo)-failed, count(len(todo), "database"),
		time.Since(start).Round(100*time.Millisecond))
}

// registerProject registers the databases of a plan, and prints their number.
func (s *setupCommand) registerProject(plan *library.ProjectPlan) error {
	built, err := plan.Register(s.locations)
	if err == nil && built > 0 {
		fmt.Fprintf(s.stdout, "added %s to the project %s\n", count(built, "database"),
			library.CanonicalFolder(plan.Project.Checkout))
	}
	return err
}

// summarizeProject prints what the project has now.
func (s *setupCommand) summarizeProject(plan *library.ProjectPlan) {
	s.Title("Done")
	ready := 0
	for _, item := range plan.Items {
		if item.Source != library.SourceNone && item.Err == nil {
			ready++
		}
	}
	fmt.Fprintf(s.stdout, "\n%d of %d direct dependencies have a database\n", ready, len(plan.Items))
	fmt.Fprintf(s.stdout, "they answer in %s only\n", library.CanonicalFolder(plan.Project.Checkout))
	fmt.Fprintln(s.stdout, "after the next change of a lock file, run: docsearch update --project")
	fmt.Fprintln(s.stdout, "to remove them, run: docsearch index remove --project")
}
