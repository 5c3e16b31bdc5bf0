package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A ProjectPlan is the databases that a project needs.
type ProjectPlan struct {
	Project *project.Project
	Items   []*ProjectItem // one per direct dependency, in its order

	databases []config.Database // of the user and of the project, before the build
	offline   bool
}

// A ProjectItem is the documentation of one dependency.
type ProjectItem struct {
	project.Dependency
	Database string // name
	Source   ItemSource
	Bytes    int64         // of the installed documentation
	Duration time.Duration // estimated

	Installed *installed.Documentation // nil: none
	Extent    installed.Extent
	digest    string        // of the files of installed
	Recipe    *ChosenRecipe // nil: none
	dir       string        // of the database
	Ready     bool          // the database exists
	fallback  *ProjectItem  // the installed package, if the download fails; nil: none
	Err       error         // of its build
	Skipped   error         // failure of the download, if the installed package was used
}

// An ItemSource is where the documentation of a dependency comes from.
type ItemSource string

const (
	SourceReady     ItemSource = "ready"     // a database of the user, or of the project
	SourceInstalled ItemSource = "installed" // the installed package
	SourceDownload  ItemSource = "download"  // a recipe
	SourceNone      ItemSource = "none"      // nowhere
)

const (
	// minInstalled is the size from which an installed package has documentation at all.
	minInstalled = 400
	// Measured durations of a build on two cores.
	buildOverhead  = 250 * time.Millisecond
	bytesPerSecond = 700 << 10
)

// PlanProject plans a database for each direct dependency of a project.
func PlanProject(ctx context.Context, l config.Locations, p *project.Project, offline bool) (*ProjectPlan, error) {
	r, err := load.Load(l)
	if err != nil {
		return nil, usererror.WithHint(err, "run docsearch config check to list all problems")
	}
	r.Config.AddProject(p.Dir)
	planner, err := newProjectPlanner(l, r.Config.Databases, p, offline)
	if err != nil {
		return nil, err
	}
	return planner.plan(ctx, p)
}

// KeepDocumented removes the items of packages of which no version has a database.
func (p *ProjectPlan) KeepDocumented() {
	known := func(item *ProjectItem) bool {
		return slices.ContainsFunc(p.databases,
			func(db config.Database) bool { return slices.Contains(db.Packages, item.ID()) })
	}
	p.Items = slices.DeleteFunc(p.Items, func(item *ProjectItem) bool { return !item.Ready && !known(item) })
}

// Todo returns the items to build.
func (p *ProjectPlan) Todo() []*ProjectItem {
	return slices.DeleteFunc(slices.Clone(p.Items),
		func(i *ProjectItem) bool { return i.Ready || i.Source == SourceNone })
}

// Question returns the question to the user before databases are built for the project, or
// existing ones are registered for it; "" if there is nothing to do.
func (p *ProjectPlan) Question() string {
	checkout := CanonicalFolder(p.Project.Checkout)
	if todo := p.Todo(); len(todo) > 0 {
		return fmt.Sprintf("Build %s for %s?", humanize.Count(len(todo), "database"), checkout)
	}
	added := 0
	for _, item := range p.Items {
		if item.isProjects() && !slices.ContainsFunc(p.databases,
			func(db config.Database) bool { return db.Project != "" && db.Path == item.dir }) {
			added++
		}
	}
	if added == 0 {
		return ""
	}
	return fmt.Sprintf("Add %s to the project %s?", humanize.Count(added, "database"), checkout)
}

// isProjects reports whether the project has the item's database, and not the user.
func (item *ProjectItem) isProjects() bool {
	return item.Source == SourceInstalled || item.Source == SourceDownload
}

// Failure returns an error if builds failed.
func (p *ProjectPlan) Failure() error {
	var failed []string
	for _, item := range p.Items {
		if item.Err != nil {
			failed = append(failed, item.ID())
		}
	}
	if failed == nil {
		return nil
	}
	return usererror.WithHint(fmt.Errorf("cannot set up %s", strings.Join(failed, ", ")),
		"run the same command again to retry only these")
}

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
func newProjectPlanner(l config.Locations, dbs []config.Database, p *project.Project,
	offline bool) (*projectPlanner, error) {
	if l.Projects == "" {
		return nil, errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set")
	}
	checkout := CanonicalFolder(p.Checkout)
	return &projectPlanner{
		locations: l, databases: dbs, offline: offline, taken: map[string]string{},
		roots:     installed.ProjectRoots(os.Getenv, config.Home(os.Getenv), p.Dir, p.Root),
		checkouts: []string{p.Root, CanonicalFolder(p.Root), p.Checkout, checkout},
		own:       filepath.Join(l.Projects, projectID(checkout)),
	}, nil
}

// isOwn reports whether a folder belongs to the project, and not to the whole machine.
func (pl *projectPlanner) isOwn(dir string) bool {
	real := CanonicalFolder(dir)
	return slices.ContainsFunc(pl.checkouts,
		func(c string) bool { return config.Contains(c, dir) || config.Contains(c, real) })
}

// plan plans a database for each direct dependency.
func (pl *projectPlanner) plan(ctx context.Context, p *project.Project) (*ProjectPlan, error) {
	plan := &ProjectPlan{Project: p, databases: pl.databases, offline: pl.offline}
	for _, d := range p.Direct() {
		item, err := pl.item(ctx, d)
		if err != nil {
			return nil, err
		}
		// Images and tools of one name share a database.
		if !slices.ContainsFunc(plan.Items,
			func(other *ProjectItem) bool { return other.Database == item.Database && item.Source != SourceNone }) {
			plan.Items = append(plan.Items, item)
		}
	}
	return plan, nil
}

// item plans the database of a dependency.
func (pl *projectPlanner) item(ctx context.Context, d project.Dependency) (*ProjectItem, error) {
	item := &ProjectItem{Dependency: d, Source: SourceNone}
	wanted := installed.Package{Ecosystem: d.Ecosystem, Name: d.Name, Version: d.Version}
	if found, ok := installed.OfPackage(pl.roots, wanted); ok {
		extent, err := installed.Assess(ctx, &found)
		if err != nil {
			return nil, err
		}
		if found.Bytes >= minInstalled {
			item.Installed, item.Extent, item.Bytes = &found, extent, found.Bytes
			item.Version = found.Version
		}
	}
	item.Recipe = recipeFor(&item.Dependency)
	if db, ok := pl.existing(item); ok {
		item.Database, item.dir, item.Source, item.Ready = db.Name, db.Path, SourceReady, true
		return item, nil
	}
	switch {
	case item.prefersRecipe() && !pl.offline:
		item.Source = SourceDownload
	case item.Installed != nil && item.Version != "":
		item.Source = SourceInstalled
		item.Duration = buildOverhead + time.Duration(float64(item.Bytes)/bytesPerSecond*float64(time.Second))
	}
	switch item.Source {
	case SourceInstalled:
		return item, pl.placeInstalled(ctx, item)
	case SourceDownload:
		if item.Installed != nil {
			fallback := *item
			fallback.Source = SourceInstalled
			if err := pl.placeInstalled(ctx, &fallback); err != nil {
				return nil, err
			}
			item.fallback = &fallback
		}
		item.Database = item.Recipe.DatabaseName()
		item.dir = filepath.Join(pl.locations.Projects, SharedFolder, item.Database)
		info, err := index.Inspect(item.dir)
		item.Ready = err == nil && sameSource(info.Source.Location, item.Recipe.Source.Download())
	}
	return item, nil
}

// prefersRecipe reports whether the recipe for a dependency documents it better than the
// installed package. One without versions documents the newest release, so a manual of this
// version is preferred to it.
func (item *ProjectItem) prefersRecipe() bool {
	return item.Recipe != nil && (item.Recipe.versioned || item.Installed == nil || item.Extent != installed.Manual)
}

// placeInstalled names the database of an installed package by its contents, so that other
// contents of the same version get another one.
func (pl *projectPlanner) placeInstalled(ctx context.Context, item *ProjectItem) (err error) {
	if item.digest, err = installed.Digest(ctx, item.Installed); err != nil {
		return err
	}
	item.Database = pl.packageName(item)
	parent := filepath.Join(pl.locations.Projects, SharedFolder)
	if pl.isOwn(item.Installed.Folder) {
		parent = pl.own
	}
	const digits = 16
	item.dir = filepath.Join(parent, item.Database+"-"+item.digest[:digits])
	_, err = index.Inspect(item.dir)
	item.Ready = err == nil
	return nil
}

// existing returns the database that documents exactly this version, or of a tool this
// release, if its index is there. One that was made from an installed package counts only if
// that is gone: else its contents decide, see placeInstalled.
func (pl *projectPlanner) existing(item *ProjectItem) (config.Database, bool) {
	for _, db := range pl.databases {
		if !slices.Contains(db.Packages, item.ID()) ||
			db.Project != "" && isInstalledPackage(db.Path) && item.Installed != nil {
			continue
		}
		same := documents(&db, item.ID(), item.Version)
		if item.prefersRecipe() && db.Name == item.Recipe.DatabaseName() {
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
	return err == nil && OptionsOf(&info.Manifest, dir).Package != ""
}

// packageName returns the shortest name for a database of the package that neither another
// package nor a database of the user has.
func (pl *projectPlanner) packageName(item *ProjectItem) (name string) {
	id := item.ID() + "@" + item.Version
	for _, short := range item.FileNames() {
		name = DatabaseName(short + "-" + item.Version)
		users := slices.ContainsFunc(pl.databases,
			func(db config.Database) bool { return db.Project == "" && strings.EqualFold(db.Name, name) })
		if owner := pl.taken[name]; !users && (owner == "" || owner == id) {
			pl.taken[name] = id
			break
		}
	}
	return name
}
