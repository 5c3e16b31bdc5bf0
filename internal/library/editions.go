package library

import (
	"os"
	"slices"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/project"
)

// Unused returns the databases of packages that no known project uses in that
// version: neither the one in the working directory nor those with a snapshot. A project's
// own databases are for that project.
func Unused(l config.Locations, all []Ref) ([]Ref, error) {
	snapshots := config.ProjectSnapshots(l)
	r, err := load.Load(l)
	if err != nil {
		return nil, err
	}
	var dirs []string
	if cwd, err := os.Getwd(); err == nil {
		dirs = append(dirs, cwd)
	}
	for _, s := range snapshots {
		dirs = append(dirs, s.Folder)
	}
	for _, d := range all {
		if d.Project != "" {
			dirs = append(dirs, d.Project)
		}
	}
	uses := map[[2]string][]string{} // versions of each software, for a project or "" for all
	for _, dir := range dirs {
		p, err := project.Read(dir, config.Home(os.Getenv))
		if err != nil {
			continue // the folder is gone
		}
		c := r.Config
		c.AddProject(dir)
		for _, u := range usesOf(p, c.Databases) {
			for _, of := range []string{"", CanonicalFolder(p.Checkout)} {
				key := [...]string{of, u.Software}
				uses[key] = append(uses[key], u.Versions...)
			}
		}
	}
	isUsed := func(d Ref) bool {
		for _, software := range d.Software {
			for _, version := range uses[[...]string{d.Project, software}] {
				if d.Version == "" || config.VersionCloseness(d.Version, version) == config.SameVersion {
					return true
				}
			}
		}
		return false
	}
	return slices.DeleteFunc(all, func(d Ref) bool { return !d.IsPackage || isUsed(d) }), nil
}

// Editions keeps one database of each software: of the version that the query names,
// else of the version that the project in the working directory uses, else the newest.
func Editions(all []Ref, query string) []Ref {
	var p *config.Project
	if cwd, err := os.Getwd(); err == nil {
		p = config.ProjectAt(config.Locate(os.Getenv), os.Getenv, cwd)
	}
	editions := collect(all, func(d Ref) config.Edition {
		return config.Edition{Software: d.Software,
			Version: d.Version}
	})
	var kept []Ref
	for _, e := range p.ChooseEditions(editions, func(i int) string {
		if len(all[i].Software) == 0 {
			return "" // a database that the config does not list
		}
		return lexical.NamedVersion(query, all[i].Aliases)
	}) {
		d := all[e.Index]
		d.Used = e.Used
		kept = append(kept, d)
	}
	return kept
}
