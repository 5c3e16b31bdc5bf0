package library

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/setup"
)

// BuildItems builds databases in parallel, each with a copy of the builder, and returns how
// many failed. The error of each is in its item.
func BuildItems(ctx context.Context, todo []*ProjectItem, b Builder, report progress.Func) (failures int) {
	// The largest first, so that none is left at the end.
	slices.SortStableFunc(todo, func(a, b *ProjectItem) int { return int(b.Bytes>>10) - int(a.Bytes>>10) })
	var done, failed int64
	var mu sync.Mutex // of the counts and report
	var builds errgroup.Group
	builds.SetLimit(max(2, runtime.NumCPU()))
	for _, item := range todo {
		if item.Err = ctx.Err(); item.Err != nil {
			continue
		}
		builds.Go(func() error {
			item.Err = item.build(ctx, b)
			mu.Lock()
			defer mu.Unlock()
			done++
			if item.Err != nil && ctx.Err() == nil {
				failed++
			}
			report(progress.Event{Stage: "building databases", Done: done, Total: int64(len(todo)), Failed: failed})
			return nil
		})
	}
	builds.Wait()
	return int(failed)
}

// build builds the database of a dependency with a copy of the builder. If a download fails,
// it uses the installed package.
func (item *ProjectItem) build(ctx context.Context, b Builder) error {
	if item.Source == SourceDownload {
		err := item.buildRecipe(ctx, b)
		if err == nil || ctx.Err() != nil || item.fallback == nil {
			return err
		}
		*item = *item.fallback
		if item.Skipped = err; item.Ready {
			return nil
		}
	}
	if item.Ecosystem == project.Go && item.Sum != "" {
		if err := installed.VerifyModule(item.Installed, item.Name, item.Version, item.Sum); err != nil {
			return err
		}
	}
	item.configure(&b)
	b.Options.Package = item.ID() + "@" + item.Version
	p, err := b.PlanInstalled(*item.Installed)
	if err != nil {
		return err
	}
	if _, err := b.Build(ctx, &p); err != nil {
		return err
	}
	if now, err := installed.Digest(ctx, item.Installed); err != nil || now != item.digest {
		return cmp.Or(err, RemoveFiles(item.dir, true), errors.New("the installed package was changed during the build"))
	}
	return nil
}

// buildRecipe downloads and builds the database of a recipe.
func (item *ProjectItem) buildRecipe(ctx context.Context, b Builder) error {
	item.configure(&b)
	b.useSource(item.Recipe.Source)
	source := item.Recipe.Source.Download()
	if source == "" {
		return errors.New("its recipe has no download")
	}
	p, err := b.Plan(source)
	if err != nil {
		return err
	}
	existed := IsDatabase(p.Dir)
	if _, err := b.Build(ctx, &p); err != nil {
		return err
	}
	_, err = item.Recipe.Accept(ctx, p.Dir, source, existed)
	return err
}

// configure makes a builder build the database of an item.
func (item *ProjectItem) configure(b *Builder) {
	b.Name, b.Out, b.Wait = item.Database, item.dir, time.Minute
	b.Set = func(flag string) bool { return flag == "name" || flag == "out" }
}

// Register registers the databases that were built, and those of others that the project
// uses, and returns how many were built. The user's config stays as it is: what a lock file
// names is no default for other folders.
func (p *ProjectPlan) Register(l config.Locations) (built int, err error) {
	var databases []config.Database
	for _, item := range p.Items {
		if item.Err == nil && item.isProjects() {
			databases = append(databases, item.entry(CanonicalFolder(p.Project.Checkout), l))
			if !item.Ready {
				built++
			}
		}
	}
	if len(databases) == 0 {
		return 0, nil
	}
	return built, registerDatabases(l, p.Project, databases)
}

// entry returns the registration of an item's database for a checkout. Only what was
// downloaded, or is in the module cache, has addresses of pages on the web.
func (item *ProjectItem) entry(checkout string, l config.Locations) config.Database {
	if item.Source == SourceDownload {
		r := item.Recipe
		return config.Database{Name: r.DatabaseName(), Keywords: r.Keywords, Path: item.dir,
			Description: r.Title + " documentation", URLs: r.URLs, Version: r.NumericVersion(), Packages: r.Packages}
	}
	description, urls := item.ShortName()+" documentation", []string(nil)
	switch isShared := config.Contains(filepath.Join(l.Projects, SharedFolder), item.dir); {
	case isShared && item.Ecosystem == project.Go:
		urls = []string{"https://pkg.go.dev/" + item.Name}
	case !isShared:
		description = strings.TrimSpace(item.ShortName()+" "+item.Version) + " documentation from the files of " + checkout
	}
	return config.Database{
		Name: item.Database, Keywords: setup.PackageKeywords(&item.Dependency, item.modules()), Path: item.dir,
		Description: description, URLs: urls, Version: item.Version, Packages: []string{item.ID()},
	}
}

// modules returns the modules of a Python package.
func (item *ProjectItem) modules() []string {
	var names []string
	if item.Ecosystem == project.Python && item.Installed != nil {
		for _, pattern := range item.Installed.Include {
			if name, ok := strings.CutSuffix(pattern, "/**"); ok && !strings.HasPrefix(name, "_") {
				names = append(names, name)
			}
		}
	}
	return names
}
