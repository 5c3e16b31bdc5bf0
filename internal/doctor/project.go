package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/safetext"
)

// RecentPeriod is the time before now of which events and calls count as recent.
const RecentPeriod = 30 * 24 * time.Hour

// A Use is a dependency of a project with the database that documents it best.
type Use struct {
	Package, Version string
	Database         string // "" if none documents it
	Documents        string // version that the database documents
	Matches          bool   // the database documents this version
}

// Uses returns the direct dependencies of a project, each with the database
// that documents it best.
func Uses(p *project.Project, databases []config.Database) []Use {
	var uses []Use
	for _, dep := range p.Direct() {
		best, u := config.OtherMajor, Use{Package: dep.ID(), Version: dep.Version}
		for i := range databases {
			db := &databases[i]
			if !slices.Contains(db.Packages, dep.ID()) {
				continue
			}
			if c := config.VersionCloseness(db.Version, dep.Version); u.Database == "" || c > best {
				best, u.Documents, u.Database = c, db.Version, db.Name
			}
		}
		u.Matches = u.Database != "" && (best >= config.SameMinor || dep.Version == "" || u.Documents == "")
		uses = append(uses, u)
	}
	return uses
}

// DatabasesOf returns the databases of a project's direct dependencies, in the order of
// the dependencies; "" if none has the version.
func DatabasesOf(p *project.Project, databases []config.Database) []string {
	uses := make(map[string]string) // dependency to database
	for _, u := range Uses(p, databases) {
		if u.Matches {
			uses[u.Package+"@"+u.Version] = u.Database
		}
	}
	names := make([]string, len(p.Dependencies))
	for i, d := range p.Dependencies {
		names[i] = uses[d.ID()+"@"+d.Version]
	}
	return names
}

// listSome joins the first items of a list, with the number of the others.
func listSome(items []string) string {
	const most = 8
	if n := len(items) - most; n > 0 {
		return fmt.Sprintf("%s, and %d more", safetext.Printable(strings.Join(items[:most], ", ")), n)
	}
	return safetext.Printable(strings.Join(items, ", "))
}
