package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/setup"
)

// runProject sets up the databases of a project's direct dependencies.
func (s *setupCommand) runProject(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return usagef("cannot set up %d folders: want one", len(args))
	}
	for _, flag := range []string{"type", "name", "out", "keywords", "urls", "description"} {
		if s.builder.set(flag) {
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
	r, err := load.Load(s.locations)
	if err != nil {
		return withHint(err, "run docsearch config check to list all problems")
	}
	r.Config.AddProject(p.Dir)
	planner, err := newProjectPlanner(s.locations, r.Config.Databases, p, s.offline)
	if err != nil {
		return err
	}
	plan, err := planner.plan(ctx, p)
	if err != nil {
		return err
	}
	if err := printProjectPlan(s.stdout, plan); err != nil {
		return err
	}
	todo := plan.todo()
	if len(todo) > 0 {
		agreed, err := s.prompter.confirm(ctx, fmt.Sprintf("Build %s for %s?", count(len(todo), "database"), library.CanonicalFolder(p.Checkout)), true)
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
		func(context.Context) error { s.summarizeProject(plan); return plan.failure() })
}

// todo returns the items to build.
func (p *projectPlan) todo() []*projectItem {
	return slices.DeleteFunc(slices.Clone(p.items), func(i *projectItem) bool { return i.ready || i.source == sourceNone })
}

// failure returns an error if builds failed.
func (p *projectPlan) failure() error {
	var failed []string
	for _, item := range p.items {
		if item.err != nil {
			failed = append(failed, item.ID())
		}
	}
	if failed == nil {
		return nil
	}
	return withHint(fmt.Errorf("cannot set up %s", strings.Join(failed, ", ")), "run the same command again to retry only these")
}

// printProjectPlan prints the plan with sizes and times.
func printProjectPlan(w io.Writer, p *projectPlan) error {
	table := newTable(w, "PACKAGE\tVERSION\tSOURCE\tSIZE\tTIME\tDATABASE")
	counts := map[itemSource]int{}
	var total time.Duration
	var bytes int64
	for _, i := range p.items {
		source, length, took := "no documentation found", "-", "-"
		switch {
		case i.ready:
			source = "database exists"
			counts[sourceReady]++
		case i.source == sourceInstalled:
			source, length, took = i.installed.Kind, size(i.bytes), seconds(i.duration)
			total += i.duration
			bytes += i.bytes
			counts[sourceInstalled]++
		case i.source == sourceDownload:
			counts[sourceDownload]++
			source = "recipe " + i.recipe.argument + ", download"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(i.ID()), printable(cmp.Or(i.Version, "-")), source, length, took, cmp.Or(i.database, "-"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s of installed packages (%s, about %s), %s, %d ready, %d without documentation\n",
		count(counts[sourceInstalled], "database"), size(bytes), seconds(total/time.Duration(min(2, runtime.NumCPU()))), count(counts[sourceDownload], "download"), counts[sourceReady], len(p.items)-counts[sourceInstalled]-counts[sourceDownload]-counts[sourceReady])
	return err
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
}

// buildProject builds the databases, several at once, and registers them for the project. The
// failure of one does not affect the others.
func (s *setupCommand) buildProject(ctx context.Context, plan *projectPlan) error {
	todo := plan.todo()
	if len(todo) > 0 {
		s.step("Build the databases")
		fmt.Fprintln(s.stdout)
		s.buildItems(ctx, todo)
		if ctx.Err() != nil {
			// The finished ones stay, so that the next run need not build them again.
			if err := s.registerProject(plan); err != nil {
				return err
			}
			return errInterrupted
		}
	}
	if err := s.registerProject(plan); err != nil {
		return err
	}
	return library.WriteProjectSnapshot(s.locations, plan.project)
}

// buildItems builds the databases in parallel with one display.
func (s *setupCommand) buildItems(ctx context.Context, todo []*projectItem) {
	// The largest first, so that none is left at the end.
	slices.SortStableFunc(todo, func(a, b *projectItem) int { return int(b.bytes>>10) - int(a.bytes>>10) })
	display := progress.New(s.stderr, progress.StyleFor(s.stderr))
	report := display.Func()
	start := time.Now()
	var done, failed int64
	var mu sync.Mutex // of the counts, report and the output
	var builds errgroup.Group
	builds.SetLimit(max(2, runtime.NumCPU()))
	for _, item := range todo {
		if item.err = ctx.Err(); item.err != nil {
			continue
		}
		builds.Go(func() error {
			item.err = s.buildItem(ctx, item)
			mu.Lock()
			defer mu.Unlock()
			done++
			if item.err != nil && ctx.Err() == nil {
				failed++
			}
			report(progress.Event{Stage: "building databases", Done: done, Total: int64(len(todo)), Failed: failed})
			return nil
		})
	}
	builds.Wait()
	display.Close()
	if ctx.Err() != nil {
		return
	}
	for _, item := range todo {
		switch {
		case item.err != nil:
			s.warn("%s: %v", item.ID(), item.err)
		case item.skipped != nil:
			s.warn("%s: indexed the installed package, because the download failed: %v", item.ID(), item.skipped)
		}
	}
	fmt.Fprintf(s.stdout, "built %d of %s in %s\n", len(todo)-int(failed), count(len(todo), "database"), time.Since(start).Round(100*time.Millisecond))
}

// buildItem builds the database of a dependency. If a download fails, it uses the installed
// package.
func (s *setupCommand) buildItem(ctx context.Context, item *projectItem) error {
	if item.source == sourceDownload {
		err := s.buildRecipe(ctx, item)
		if err == nil || ctx.Err() != nil || item.fallback == nil {
			return err
		}
		*item = *item.fallback
		if item.skipped = err; item.ready {
			return nil
		}
	}
	if item.Ecosystem == project.Go && item.Sum != "" {
		if err := installed.VerifyModule(item.installed, item.Name, item.Version, item.Sum); err != nil {
			return err
		}
	}
	b := s.packageBuilder(item)
	b.options.Package = item.ID() + "@" + item.Version
	p, err := b.planInstalled(*item.installed)
	if err != nil {
		return err
	}
	if _, err := b.build(ctx, &p); err != nil {
		return err
	}
	if now, err := installed.Digest(ctx, item.installed); err != nil || now != item.digest {
		return cmp.Or(err, library.RemoveFiles(item.dir, true), errors.New("the installed package was changed during the build"))
	}
	return nil
}

// buildRecipe downloads and builds the database of a recipe.
func (s *setupCommand) buildRecipe(ctx context.Context, item *projectItem) error {
	b := s.packageBuilder(item)
	b.useSource(item.recipe.Source)
	source := item.recipe.Source.Download()
	if source == "" {
		return errors.New("its recipe has no download")
	}
	p, err := b.plan(source)
	if err != nil {
		return err
	}
	existed := library.IsDatabase(p.dir)
	if _, err := b.build(ctx, &p); err != nil {
		return err
	}
	_, err = item.recipe.accept(ctx, p.dir, source, existed)
	return err
}

// packageBuilder returns a builder of the database of an item, without output.
func (s *setupCommand) packageBuilder(item *projectItem) *buildCommand {
	return &buildCommand{
		app: s.app, name: item.database, out: item.dir, quiet: true, wait: time.Minute,
		set: func(flag string) bool { return flag == "name" || flag == "out" },
	}
}

// registerProject registers the databases that were built, and those of others that the
// project uses. The user's config stays as it is: what a lock file names is no default for
// other folders.
func (s *setupCommand) registerProject(plan *projectPlan) error {
	var databases []config.Database
	built := 0
	for _, item := range plan.items {
		if item.err == nil && (item.source == sourceInstalled || item.source == sourceDownload) {
			databases = append(databases, item.entry(library.CanonicalFolder(plan.project.Checkout), s.locations))
			if !item.ready {
				built++
			}
		}
	}
	if len(databases) == 0 {
		return nil
	}
	if err := library.RegisterDatabases(s.locations, plan.project, databases); err != nil {
		return err
	}
	if built > 0 {
		fmt.Fprintf(s.stdout, "added %s to the project %s\n", count(built, "database"), library.CanonicalFolder(plan.project.Checkout))
	}
	return nil
}

// entry returns the registration of an item's database for a checkout. Only what was
// downloaded has addresses of pages on the web.
func (item *projectItem) entry(checkout string, l config.Locations) config.Database {
	if item.source == sourceDownload {
		r := item.recipe
		return config.Database{Name: r.databaseName(), Keywords: r.Keywords, Path: item.dir, Description: r.Title + " documentation",
			URLs: r.URLs, Version: r.numericVersion(), Packages: r.Packages}
	}
	description := item.ShortName() + " documentation"
	if !config.Contains(filepath.Join(l.Projects, library.SharedFolder), item.dir) {
		description = strings.TrimSpace(item.ShortName()+" "+item.Version) + " documentation from the files of " + checkout
	}
	return config.Database{
		Name: item.database, Keywords: setup.PackageKeywords(&item.Dependency, item.modules()), Path: item.dir,
		Description: description, Version: item.Version, Packages: []string{item.ID()},
	}
}

// modules returns the modules of a Python package.
func (item *projectItem) modules() []string {
	var names []string
	if item.Ecosystem == project.Python && item.installed != nil {
		for _, pattern := range item.installed.Include {
			if name, ok := strings.CutSuffix(pattern, "/**"); ok && !strings.HasPrefix(name, "_") {
				names = append(names, name)
			}
		}
	}
	return names
}

// summarizeProject prints what the project has now.
func (s *setupCommand) summarizeProject(plan *projectPlan) {
	s.title("Done")
	ready := 0
	for _, item := range plan.items {
		if item.source != sourceNone && item.err == nil {
			ready++
		}
	}
	fmt.Fprintf(s.stdout, "\n%d of %d direct dependencies have a database\n", ready, len(plan.items))
	fmt.Fprintf(s.stdout, "they answer in %s only\n", library.CanonicalFolder(plan.project.Checkout))
	fmt.Fprintln(s.stdout, "after the next change of a lock file, run: docsearch index update --project")
	fmt.Fprintln(s.stdout, "to remove them, run: docsearch index remove --project")
}
