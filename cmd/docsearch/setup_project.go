package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
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
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	if err := s.prepare(); err != nil {
		return err
	}
	p, err := project.Read(dir, config.Home(os.Getenv))
	if err != nil {
		return err
	}
	for _, problem := range p.Problems {
		s.warn("%s", problem)
	}
	if len(p.Direct()) == 0 {
		return withHint(fmt.Errorf("no lock file or manifest found in %s", p.Dir), "run docsearch setup NAME to set up the documentation of a framework or tool")
	}
	plan, err := library.PlanProject(ctx, s.locations, p, s.offline)
	if err != nil {
		return err
	}
	if err := printProjectPlan(s.stdout, plan); err != nil {
		return err
	}
	todo := plan.Todo()
	if len(todo) > 0 {
		agreed, err := s.prompter.Agree(ctx, fmt.Sprintf("Build %s for %s?", count(len(todo), "database"), library.CanonicalFolder(p.Checkout)), s.yes)
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

// printProjectPlan prints the plan with sizes and times.
func printProjectPlan(w io.Writer, p *library.ProjectPlan) error {
	table := terminal.NewTable(w, "PACKAGE\tVERSION\tSOURCE\tSIZE\tTIME\tDATABASE")
	counts := map[library.ItemSource]int{}
	var total time.Duration
	var bytes int64
	for _, i := range p.Items {
		source, length, took := "no documentation found", "-", "-"
		switch {
		case i.Ready:
			source = "database exists"
			counts[library.SourceReady]++
		case i.Source == library.SourceInstalled:
			source, length, took = i.Installed.Kind, size(i.Bytes), seconds(i.Duration)
			total += i.Duration
			bytes += i.Bytes
			counts[library.SourceInstalled]++
		case i.Source == library.SourceDownload:
			counts[library.SourceDownload]++
			source = "recipe " + i.Recipe.Argument + ", download"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(i.ID()), printable(cmp.Or(i.Version, "-")), source, length, took, cmp.Or(i.Database, "-"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s of installed packages (%s, about %s), %s, %d ready, %d without documentation\n",
		count(counts[library.SourceInstalled], "database"), size(bytes), seconds(total/time.Duration(min(2, runtime.NumCPU()))), count(counts[library.SourceDownload], "download"), counts[library.SourceReady], len(p.Items)-counts[library.SourceInstalled]-counts[library.SourceDownload]-counts[library.SourceReady])
	return err
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
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
	fmt.Fprintf(s.stdout, "built %d of %s in %s\n", len(todo)-failed, count(len(todo), "database"), time.Since(start).Round(100*time.Millisecond))
}

// registerProject registers the databases of a plan, and prints their number.
func (s *setupCommand) registerProject(plan *library.ProjectPlan) error {
	built, err := plan.Register(s.locations)
	if err == nil && built > 0 {
		fmt.Fprintf(s.stdout, "added %s to the project %s\n", count(built, "database"), library.CanonicalFolder(plan.Project.Checkout))
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
