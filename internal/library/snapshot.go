package library

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/recipes"
)

// Limits of the processes that a session start begins, in seconds of processor time: the
// files that they read are the project's.
const (
	refreshTime = 30
	UpdateTime  = 600
)

// RefreshProject reads the versions that the project in a folder uses and writes the
// snapshots for the hook. A session start runs it in the background.
func RefreshProject(dir string) error {
	refresh, err := BeginRefresh(config.Locate(os.Getenv), dir, refreshTime)
	if err != nil || refresh == nil {
		return err
	}
	defer refresh.Unlock()
	p, err := project.Read(dir, config.Home(os.Getenv))
	if err != nil {
		return err
	}
	return WriteProjectSnapshot(config.Locate(os.Getenv), p)
}

// BeginRefresh limits this process before it reads the files of the project in a folder. It
// first writes the stamps of the files: if this process is ended at its limit, the next
// session start does not begin another one until a file changes. It returns nil if another
// process reads the same files.
func BeginRefresh(l config.Locations, dir string, seconds uint64) (*filelock.Lock, error) {
	cache, err := CacheFolder()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	lock, err := filelock.TryLock(filepath.Join(cache, "refresh-"+projectID(dir)+".lock"))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	background.LowerPriority()
	background.LimitProcessorTime(seconds)
	attempt := config.ProjectSnapshot{Folder: dir, Sources: project.Stamps(dir, config.Home(os.Getenv))}
	if before, err := config.ReadProjectSnapshot(l, dir); err == nil {
		attempt.Uses = before.Uses
	}
	return lock, writeSnapshot(l, &attempt)
}

// WriteProjectSnapshot writes the snapshots from which the hook and the server know the
// versions that the project uses: one for its folder, and one for each folder below it with
// a manifest, because a session may change to it.
func WriteProjectSnapshot(l config.Locations, p *project.Project) error {
	if err := adoptFolder(l, p); err != nil {
		return err
	}
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	r.Config.AddProject(p.Dir)
	for _, dir := range project.Members(p.Dir) {
		if s, err := config.ReadProjectSnapshot(l, dir); err == nil && s.Current() {
			continue
		}
		member, err := project.Read(dir, config.Home(os.Getenv))
		if err != nil {
			continue // removed in the meantime
		}
		if err := writeSnapshotOf(l, member, r.Config.Databases); err != nil {
			return err
		}
	}
	return writeSnapshotOf(l, p, r.Config.Databases)
}

// writeSnapshotOf writes the snapshot of one folder.
func writeSnapshotOf(l config.Locations, p *project.Project, dbs []config.Database) error {
	return writeSnapshot(l, &config.ProjectSnapshot{Folder: p.Dir, Sources: slices.Clone(p.Sources),
		Uses: usesOf(p, dbs)})
}

// writeSnapshot writes a snapshot, which also depends on the config.
func writeSnapshot(l config.Locations, s *config.ProjectSnapshot) error {
	if stamp, err := config.StampOf(l.Config); err == nil {
		s.Sources = append(s.Sources, stamp)
	}
	for i, stamp := range s.Sources {
		if !stamp.Settled(time.Now()) {
			s.Sources[i].ModTime = 0 // it may still change unnoticed: look again at the next session
		}
	}
	load.RemoveOld(l, "project")
	return s.Write(l)
}

// usesOf returns the software that the project uses: all direct dependencies, and the
// indirect ones that a database documents.
func usesOf(p *project.Project, dbs []config.Database) []config.Use {
	documented := map[string]bool{}
	for i := range dbs {
		for _, software := range dbs[i].Software() {
			documented[software] = true
		}
	}
	var uses []config.Use
	places := map[string]int{}
	add := func(software, version string, direct bool) {
		at, ok := places[software]
		if !ok {
			places[software] = len(uses)
			uses = append(uses, config.Use{Software: software, Versions: []string{version}, Direct: direct})
		} else if !slices.Contains(uses[at].Versions, version) {
			uses[at].Versions = append(uses[at].Versions, version)
		}
	}
	for _, d := range p.Dependencies { // the direct ones first
		if d.Version == "" {
			continue
		}
		if d.Direct || documented[d.ID()] {
			add(d.ID(), d.Version, d.Direct)
		}
		for _, name := range databaseNames(&d) {
			if documented[config.NamePrefix+name] {
				add(config.NamePrefix+name, d.Version, d.Direct)
			}
		}
	}
	return uses
}

// databaseNames returns the names of databases without packages that document a
// dependency: its recipe's name and, for a direct dependency, its own.
func databaseNames(d *project.Dependency) []string {
	var names []string
	if r := recipes.ForPackage(d.ID()); r != nil {
		names = append(names, r.Name)
	}
	if d.Direct {
		for _, name := range []string{strings.ToLower(d.Name), strings.ToLower(d.ShortName())} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
