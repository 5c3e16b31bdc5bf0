package config

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A ProjectSnapshot stores the versions of the documented software that a project uses,
// for the hook. It is written when a session starts (see package project), and is a cache
// that can be deleted at any time:
//
//	magic     "docsearch project 1\n", the version of the format
//	checksum  [8] of all that follows, little endian: FNV-1a, eight bytes at a time
//	fields    in the order of ProjectSnapshot.code
//
// Each folder in which a session works has its own file.
type ProjectSnapshot struct {
	Config  string  // the config file
	Folder  string  // in which the session works
	Sources []Stamp // of the lock files and manifests, of their folders, and of the config file
	Uses    []Use   // direct dependencies first
}

// A Use is one software that the project uses.
type Use struct {
	Software string   // as in Database.Software
	Versions []string // exact versions, the direct dependency's first; at least one
	Direct   bool     // the project itself names it
}

// projectMagic ends with the version of the format. Every change to the output of
// ProjectSnapshot.code must change it.
//
//	1  first
const projectMagic = "docsearch project 1\n"

func (s *ProjectSnapshot) code(c *coder) {
	c.text(&s.Config)
	c.text(&s.Folder)
	codeList(c, &s.Sources, (*Stamp).code)
	codeList(c, &s.Uses, (*Use).code)
}

func (u *Use) code(c *coder) {
	c.text(&u.Software)
	c.texts(&u.Versions)
	c.flag(&u.Direct)
}

// Write writes the snapshot to l.Cache.
func (s *ProjectSnapshot) Write(l Locations) error {
	s.Config = l.Config
	return writeCacheFile(l, projectPath(l, s.Folder), encodeFields(projectMagic, s.code))
}

// ReadProjectSnapshot returns the snapshot of a folder, even if its sources have changed.
func ReadProjectSnapshot(l Locations, folder string) (*ProjectSnapshot, error) {
	path := projectPath(l, folder)
	s, err := ProjectSnapshotIn(path)
	switch {
	case err != nil:
		return nil, err
	case s.Config != l.Config || s.Folder != folder:
		return nil, errors.New(path + " is for another folder")
	}
	return s, nil
}

// ProjectSnapshotIn returns the snapshot in a file.
func ProjectSnapshotIn(path string) (*ProjectSnapshot, error) {
	data, err := readCacheFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseProjectSnapshot(data)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return s, nil
}

func parseProjectSnapshot(data []byte) (*ProjectSnapshot, error) {
	s := &ProjectSnapshot{}
	if err := decodeFields(data, projectMagic, s.code); err != nil {
		return nil, err
	}
	return s, nil
}

// Current reports whether no source has changed since the snapshot was written.
func (s *ProjectSnapshot) Current() bool { return firstChanged(s.Sources) == "" }

func projectPath(l Locations, folder string) string {
	if l.Config == "" || !IsAbs(folder) {
		return ""
	}
	return cacheFile(l, "project", l.Config+"\x00"+folder, ".snapshot")
}

// A Project is the project in which a session works. It is read at the first use, because
// few events need it.
type Project struct {
	locations Locations
	cwd, home string
	read      bool
	snapshot  *ProjectSnapshot // nil: none
}

// ProjectAt returns the project of a session in folder cwd.
func ProjectAt(l Locations, getenv Getenv, cwd string) *Project {
	return &Project{locations: l, cwd: cwd, home: Home(getenv)}
}

// Snapshot returns the project's snapshot: that of the folder, else of the nearest folder
// above it within the repository. It returns nil if there is none.
func (p *Project) Snapshot() *ProjectSnapshot {
	if p == nil {
		return nil
	}
	if p.read {
		return p.snapshot
	}
	p.read = true
	if !IsAbs(p.cwd) {
		return nil
	}
	const deepest = 32
	dir := p.cwd
	for range deepest {
		if s, err := ReadProjectSnapshot(p.locations, dir); err == nil {
			p.snapshot = s
			return s
		}
		up := Dir(dir)
		if dir == p.home || up == dir || exists(dir, ".git") {
			return nil
		}
		dir = up
	}
	return nil
}

// Outdated reports whether the folder has no snapshot of its own, or one whose sources have
// changed.
func (p *Project) Outdated() bool {
	if p == nil || !IsAbs(p.cwd) || p.locations.Cache == "" {
		return false
	}
	s := p.Snapshot()
	return s == nil || s.Folder != p.cwd || !s.Current()
}

// Versions returns the versions in use of any of the software.
func (p *Project) Versions(software []string) []string {
	s := p.Snapshot()
	if s == nil {
		return nil
	}
	for i := range s.Uses {
		if slices.Contains(software, s.Uses[i].Software) {
			return s.Uses[i].Versions
		}
	}
	return nil
}

// Software returns the identities of the documented software. Databases that share one are
// editions of the same documentation. Without packages, it is the name of the database
// without its version.
func (d *Database) Software() []string {
	if len(d.Packages) > 0 {
		return d.Packages
	}
	name := strings.ToLower(d.Name)
	if d.Version != "" {
		name = strings.TrimSuffix(name, "-"+d.Version)
	}
	return []string{NamePrefix + name}
}

// NamePrefix starts the identity of a database that names no packages.
const NamePrefix = "name:"

// An Edition is the documentation of one version of some software.
type Edition struct {
	Software []string
	Version  string // empty: the newest
}

// A ChosenEdition is the position of an edition that searches use.
type ChosenEdition struct {
	Index int
	// Used is the version that the project uses; empty if it is unknown, or if the query
	// names a version.
	Used string
}

// ChooseEditions returns one edition of each software, in order: the one of the version
// that the query names, else of the version that the project uses, else the newest. The
// function named returns the version that the query names for an edition, or "".
func (p *Project) ChooseEditions(all []Edition, named func(i int) string) []ChosenEdition {
	var chosen []ChosenEdition
	done := make([]bool, len(all))
	for i := range all {
		if done[i] {
			continue
		}
		best := p.rank(all, i, named)
		for k := i + 1; k < len(all); k++ {
			if done[k] || !sharesAny(all[i].Software, all[k].Software) {
				continue
			}
			done[k] = true
			if other := p.rank(all, k, named); other.betterThan(&best) {
				best = other
			}
		}
		chosen = append(chosen, ChosenEdition{best.index, best.usedVersion})
	}
	slices.SortFunc(chosen, func(a, b ChosenEdition) int { return a.Index - b.Index })
	return chosen
}

func sharesAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// An editionRank is what the choice of an edition depends on.
type editionRank struct {
	index       int
	version     string
	named, used Closeness
	usedVersion string
}

func (p *Project) rank(all []Edition, i int, named func(int) string) editionRank {
	r := editionRank{index: i, version: all[i].Version}
	wanted := ""
	if named != nil {
		wanted = named(i)
	}
	if wanted != "" {
		r.named = VersionCloseness(r.version, wanted)
	}
	for k, v := range p.Versions(all[i].Software) {
		if c := VersionCloseness(r.version, v); k == 0 || c > r.used {
			r.used, r.usedVersion = c, v
		}
	}
	if wanted != "" {
		r.usedVersion = ""
	}
	return r
}

func (r *editionRank) betterThan(other *editionRank) bool {
	switch {
	case r.named != other.named:
		return r.named > other.named
	case r.used != other.used:
		return r.used > other.used
	case r.version == "" || other.version == "":
		return r.version == "" && other.version != ""
	}
	return CompareVersions(r.version, other.version) > 0
}

// ProjectSnapshots returns all snapshots for a config file.
func ProjectSnapshots(l Locations) []*ProjectSnapshot {
	entries, err := os.ReadDir(l.Cache)
	if err != nil {
		return nil
	}
	var all []*ProjectSnapshot
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "project-") || !strings.HasSuffix(e.Name(), ".snapshot") {
			continue
		}
		if s, err := ProjectSnapshotIn(Join(l.Cache, e.Name())); err == nil && s.Config == l.Config {
			all = append(all, s)
		}
	}
	return all
}
