package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/recipes"
)

// A projectPlan is the databases that a project needs.
type projectPlan struct {
	project *project.Project
	items   []*projectItem // one per direct dependency, in its order
}

// A projectItem is the documentation of one dependency.
type projectItem struct {
	project.Dependency
	database string // name
	source   itemSource
	bytes    int64         // of the installed documentation
	duration time.Duration // estimated

	installed *installed.Documentation // nil: none
	digest    string                   // of the files of installed
	recipe    *chosenRecipe            // nil: none
	dir       string                   // of the database
	ready     bool                     // the database exists
	fallback  *projectItem             // the installed package, if the download fails; nil: none
	err       error                    // of its build
	skipped   error                    // failure of the download, if the installed package was used
}

// An itemSource is where the documentation of a dependency comes from.
type itemSource string

const (
	sourceReady     itemSource = "ready"     // a database of the user, or of the project
	sourceInstalled itemSource = "installed" // the installed package
	sourceDownload  itemSource = "download"  // a recipe
	sourceNone      itemSource = "none"      // nowhere
)

const (
	// minInstalled is the size from which an installed package has documentation at all;
	// enoughInstalled the size from which it is preferred to a download. The README of
	// a package whose manual is a website is shorter.
	minInstalled    = 400
	enoughInstalled = 24 << 10
	// Measured durations of a build on two cores.
	buildOverhead  = 250 * time.Millisecond
	bytesPerSecond = 700 << 10
)

// A projectPlanner plans the databases of a project.
type projectPlanner struct {
	locations config.Locations
	databases []config.Database
	roots     installed.Roots
	offline   bool // without recipes
	taken     map[string]string
	// checkouts are the folders whose files belong to the project; own is the folder of the
	// databases made from them.
	checkouts []string
	own       string
}

// newProjectPlanner returns a planner for a project. The databases are those of the user, and
// those that the project has.
func newProjectPlanner(l config.Locations, dbs []config.Database, p *project.Project, offline bool) (*projectPlanner, error) {
	if l.Projects == "" {
		return nil, errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set")
	}
	checkout := library.CanonicalFolder(p.Checkout)
	return &projectPlanner{
		locations: l, databases: dbs, offline: offline, taken: map[string]string{},
		roots:     installed.ProjectRoots(os.Getenv, config.Home(os.Getenv), p.Dir, p.Root),
		checkouts: []string{p.Root, library.CanonicalFolder(p.Root), p.Checkout, checkout},
		own:       filepath.Join(l.Projects, library.ProjectID(checkout)),
	}, nil
}

// isOwn reports whether a folder belongs to the project, and not to the whole machine.
func (pl *projectPlanner) isOwn(dir string) bool {
	real := library.CanonicalFolder(dir)
	return slices.ContainsFunc(pl.checkouts, func(c string) bool { return config.Contains(c, dir) || config.Contains(c, real) })
}

// plan plans a database for each direct dependency.
func (pl *projectPlanner) plan(ctx context.Context, p *project.Project) (*projectPlan, error) {
	plan := &projectPlan{project: p}
	for _, d := range p.Direct() {
		item, err := pl.item(ctx, d)
		if err != nil {
			return nil, err
		}
		// Images and tools of one name share a database.
		if !slices.ContainsFunc(plan.items, func(other *projectItem) bool { return other.database == item.database && item.source != sourceNone }) {
			plan.items = append(plan.items, item)
		}
	}
	return plan, nil
}

// item plans the database of a dependency.
func (pl *projectPlanner) item(ctx context.Context, d project.Dependency) (*projectItem, error) {
	item := &projectItem{Dependency: d, source: sourceNone}
	if found, ok := installed.OfPackage(pl.roots, installed.Package{Ecosystem: d.Ecosystem, Name: d.Name, Version: d.Version}); ok {
		if err := installed.Measure(ctx, &found); err != nil {
			return nil, err
		}
		if found.Bytes >= minInstalled {
			item.installed, item.bytes = &found, found.Bytes
			item.Version = found.Version
		}
	}
	if !pl.offline {
		item.recipe = recipeFor(&item.Dependency)
	}
	if db, ok := pl.existing(item); ok {
		item.database, item.dir, item.source, item.ready = db.Name, db.Path, sourceReady, true
		return item, nil
	}
	switch {
	case item.Version == "" && item.recipe == nil:
	case item.installed != nil && (item.bytes >= enoughInstalled || item.recipe == nil):
		item.source = sourceInstalled
		item.duration = buildOverhead + time.Duration(float64(item.bytes)/bytesPerSecond*float64(time.Second))
	case item.recipe != nil:
		item.source = sourceDownload
	}
	switch item.source {
	case sourceInstalled:
		return item, pl.placeInstalled(ctx, item)
	case sourceDownload:
		if item.installed != nil {
			fallback := *item
			fallback.source = sourceInstalled
			if err := pl.placeInstalled(ctx, &fallback); err != nil {
				return nil, err
			}
			item.fallback = &fallback
		}
		item.database = item.recipe.databaseName()
		item.dir = filepath.Join(pl.locations.Projects, library.SharedFolder, item.database)
		info, err := index.Inspect(item.dir)
		item.ready = err == nil && library.SameSource(info.Source.Location, item.recipe.Source.Download())
	}
	return item, nil
}

// placeInstalled names the database of an installed package by its contents, so that other
// contents of the same version get another one.
func (pl *projectPlanner) placeInstalled(ctx context.Context, item *projectItem) (err error) {
	if item.digest, err = installed.Digest(ctx, item.installed); err != nil {
		return err
	}
	item.database = pl.packageName(item)
	parent := filepath.Join(pl.locations.Projects, library.SharedFolder)
	if pl.isOwn(item.installed.Folder) {
		parent = pl.own
	}
	const digits = 16
	item.dir = filepath.Join(parent, item.database+"-"+item.digest[:digits])
	_, err = index.Inspect(item.dir)
	item.ready = err == nil
	return nil
}

// existing returns the database that documents exactly this version, if its index is
// there. One that was made from an installed package counts only if that is gone: else its
// contents decide, see placeInstalled.
func (pl *projectPlanner) existing(item *projectItem) (config.Database, bool) {
	for _, db := range pl.databases {
		if !slices.Contains(db.Packages, item.ID()) || db.Project != "" && isInstalledPackage(db.Path) && item.installed != nil {
			continue
		}
		same := db.Version == item.Version
		if item.recipe != nil && item.recipe.Version != "" && db.Name == item.recipe.databaseName() {
			same = true
		}
		if _, err := index.Inspect(db.Path); same && err == nil {
			return db, true
		}
	}
	return config.Database{}, false
}

// isInstalledPackage reports whether a database was made from an installed package.
func isInstalledPackage(dir string) bool {
	info, err := index.Inspect(dir)
	return err == nil && library.OptionsOf(&info.Manifest, dir).Package != ""
}

// recipeFor returns the recipe for a dependency, at its version if the recipe has
// versions. A source of ready databases by package and version belongs before it.
func recipeFor(d *project.Dependency) *chosenRecipe {
	r := recipes.ForPackage(d.ID())
	if r == nil {
		return nil
	}
	if version := recipeVersion(r, d.Version); version != "" {
		if filled, err := r.At(version); err == nil {
			return &chosenRecipe{filled, r.Name + "@" + version, true}
		}
	}
	filled, err := r.At("")
	if err != nil {
		return nil
	}
	return &chosenRecipe{filled, r.Name, false}
}

// recipeVersion shortens a version to the form that a recipe's source has: as many
// numbers as the recipe's default version, else two. The pages of crates have all.
func recipeVersion(r *recipes.Recipe, version string) string {
	numbers := 2
	switch {
	case version == "" || strings.Contains(r.Source.Site, "://docs.rs/"):
		return version
	case len(r.Version) > 1 && r.Version[0] >= '0' && r.Version[0] <= '9': // a single digit is an alias
		numbers = strings.Count(r.Version, ".") + 1
	}
	version, _, _ = strings.Cut(version, "-")
	parts := strings.Split(version, ".")
	return strings.Join(parts[:min(numbers, len(parts))], ".")
}

// packageName returns the shortest name for a database of the package that neither another
// package nor a database of the user has.
func (pl *projectPlanner) packageName(item *projectItem) (name string) {
	id := item.ID() + "@" + item.Version
	for _, short := range item.FileNames() {
		name = databaseName(short + "-" + item.Version)
		users := slices.ContainsFunc(pl.databases, func(db config.Database) bool { return db.Project == "" && strings.EqualFold(db.Name, name) })
		if owner := pl.taken[name]; !users && (owner == "" || owner == id) {
			pl.taken[name] = id
			break
		}
	}
	return name
}
