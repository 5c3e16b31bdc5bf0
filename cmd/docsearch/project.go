package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/web/manage"
)

func newProjectCommand(a *app) *cobra.Command {
	var asJSON, all, refresh bool
	cmd := &cobra.Command{
		Use:   "project [DIR]",
		Short: "List the versions that a project uses, and their databases",
		Long: `List the packages, tools and images that a project uses, with their versions. DIR
is the working directory by default.

The versions come from the lock files and manifests in DIR and in the folders above
it, up to the root of the repository. Of each ecosystem, the nearest file decides.
Nothing is run and nothing is downloaded.`,
		Example: `  docsearch project
  docsearch project ~/src/shop --all --json`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if refresh {
				return library.RefreshProject(dir)
			}
			p, err := project.Read(dir, config.Home(os.Getenv))
			if err != nil {
				return err
			}
			if !all {
				p.Dependencies = p.Direct()
			}
			r, err := load.Load(config.Locate(os.Getenv))
			if err != nil {
				return withHint(err, "run docsearch config check to list all problems")
			}
			r.Config.AddProject(p.Dir)
			databases := databaseOfEach(p, r.Config.Databases)
			if asJSON {
				return a.printProjectJSON(p, databases)
			}
			for _, problem := range p.Problems {
				a.warn("%s", problem)
			}
			return printProject(a.stdout, p, databases)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list indirect dependencies, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "")
	cmd.Flags().MarkHidden("refresh")
	return cmd
}

// databaseOfEach returns the databases of a project's direct dependencies, in the order of
// the dependencies; "" if none has the version.
func databaseOfEach(p *project.Project, databases []config.Database) []string {
	uses := make(map[string]string) // dependency to database
	for _, u := range usesWithDatabases(p, databases) {
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

func (a *app) printProjectJSON(p *project.Project, databases []string) error {
	type dependency struct {
		project.Dependency
		Database string `json:"database,omitempty"`
	}
	dependencies := make([]dependency, len(databases))
	for i, name := range databases {
		dependencies[i] = dependency{p.Dependencies[i], name}
	}
	return a.printEscapedJSON(struct {
		*project.Project
		Dependencies []dependency `json:"dependencies"`
	}{p, dependencies})
}

func printProject(w io.Writer, p *project.Project, databases []string) error {
	if len(p.Dependencies) == 0 {
		_, err := fmt.Fprintf(w, "no lock file or manifest found in %s\n", p.Dir)
		return err
	}
	table := terminal.NewTable(w, "PACKAGE\tVERSION\tFILE\tDATABASE")
	for i, d := range p.Dependencies {
		version := cmp.Or(d.Version, "-")
		if d.Version == "" && d.Constraint != "" {
			version = "(" + d.Constraint + ")"
		}
		name := d.ID()
		if !d.Direct {
			name += " (indirect)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(name), printable(version), printable(d.File), printable(cmp.Or(databases[i], "-")))
	}
	return table.Flush()
}

// checkProject checks that the direct dependencies of the project in the working directory
// have databases of their versions. Not all need one, so it only reports them.
func (d *doctor) checkProject() {
	if _, err := library.Registrations(d.locations); err != nil {
		d.fail("project", userMessage(err), "remove the file, then run docsearch setup --project in the project")
	}
	p, err := project.Read(".", config.Home(os.Getenv))
	if err != nil || len(p.Direct()) == 0 {
		return
	}
	for _, problem := range p.Problems {
		d.note("project", problem)
	}
	var missing, other []string
	documented := 0
	databases := make(map[string]string) // name to dependency
	for _, u := range usesWithDatabases(p, d.config.Databases) {
		switch {
		case u.Database == "":
			missing = append(missing, u.Package)
		case !u.Matches:
			other = append(other, fmt.Sprintf("%s %s (the database has %s)", u.Package, u.Version, u.Documents))
		default:
			documented++
			databases[u.Database] = u.Package
		}
	}
	if documented == 0 && len(other) == 0 {
		d.note("project", fmt.Sprintf("no database for its %s; to set them up, run docsearch setup --project", count(len(p.Direct()), "package")))
		return
	}
	d.ok("project", "%d of %d direct dependencies have a database of their version", documented, len(p.Direct()))
	if len(other) > 0 {
		d.note("project", "other versions: "+listSome(other)+"; run docsearch index update --project")
	}
	if len(missing) > 0 {
		d.note("project", "no database: "+listSome(missing)+"; run docsearch setup --project")
	}
	if silent := d.unanswering(databases); len(silent) > 0 {
		d.note("project", "no web search answered in the last 30 days: "+listSome(silent)+"; run docsearch stats")
	}
}

// usesWithDatabases returns the direct dependencies of a project, each with the database
// that documents it best.
func usesWithDatabases(p *project.Project, databases []config.Database) []manage.Use {
	var uses []manage.Use
	for _, dep := range p.Direct() {
		best, u := config.OtherMajor, manage.Use{Package: dep.ID(), Version: dep.Version}
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

// unanswering returns the dependencies whose databases matched web searches of the last 30
// days and answered none.
func (d *doctor) unanswering(databases map[string]string) []string {
	s, err := activity.Read(eventlog.Log{Dir: d.locations.State}, time.Now().Add(-recentPeriod))
	if err != nil {
		return nil // reported with the state folder
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(databases)) {
		if c := s.Databases[name]; c[eventlog.Unanswered] > 0 && c[eventlog.Answered]+c[eventlog.Redirected] == 0 {
			list = append(list, databases[name])
		}
	}
	return list
}

// listSome joins the first items of a list, with the number of the others.
func listSome(items []string) string {
	const most = 8
	if n := len(items) - most; n > 0 {
		return fmt.Sprintf("%s, and %d more", printable(strings.Join(items[:most], ", ")), n)
	}
	return printable(strings.Join(items, ", "))
}
