package library

import (
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/usererror"
)

// SetIgnored records in the registration of a project, which is outside its folder, that
// databases answer there or not, and returns the project's folder. The worktrees of a
// repository are one project. A name must be that of one of the databases, or ignored.
func SetIgnored(l config.Locations, dir string, known, names []string, ignored bool) (checkout string, err error) {
	p, err := project.Read(dir, config.Home(os.Getenv))
	if err != nil {
		return "", err
	}
	checkout = CanonicalFolder(p.Checkout)
	if main, ok := project.MainCheckout(p.Checkout); ok {
		checkout = CanonicalFolder(main)
	}
	var unknown error
	err = changeRegistration(l, checkout, func(r *config.Registration) {
		list := slices.Clone(r.Ignored)
		for _, name := range names {
			same := func(other string) bool { return strings.EqualFold(other, name) }
			at := slices.IndexFunc(known, same)
			if at < 0 && !slices.ContainsFunc(list, same) {
				unknown = usererror.WithHint(&NotFoundError{name: name}, "run docsearch list to list all databases")
				return
			}
			list = slices.DeleteFunc(list, same)
			if ignored && at >= 0 {
				list = append(list, known[at])
			}
		}
		r.Ignored = list
		for _, folder := range []string{p.Checkout, CanonicalFolder(p.Checkout)} {
			if folder != checkout && !slices.Contains(r.Also, folder) {
				r.Also = append(r.Also, folder)
			}
		}
	})
	if unknown != nil {
		return "", unknown
	}
	return checkout, err
}

// ListAll lists the databases of the user, and then those of all projects. Those that do not
// answer in the working directory are marked. Registrations that cannot be read are reported.
func ListAll(l config.Locations, report func(error)) ([]Ref, error) {
	here, err := List(l)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(slices.Clone(here), func(d Ref) bool { return d.Project != "" })
	CleanUpEach(all)
	projects, err := ProjectDatabases(l)
	if err != nil {
		report(err)
	}
	for _, d := range projects {
		if at := slices.IndexFunc(here, func(h Ref) bool { return h.Project == d.Project && h.Path == d.Path }); at >= 0 {
			d = here[at]
		}
		all = append(all, d)
	}
	return all, nil
}

// markIgnored marks the databases that do not answer in the folder and the session for which
// the config was read. One that the config does not list has the name of its folder.
func markIgnored(c *config.Config, all []Ref) {
	for i := range all {
		d := &all[i]
		d.Ignored = c.IgnoredBy(d.Name)
		for _, db := range c.Ignored {
			if SamePath(db.Path, d.Path) {
				d.Ignored = c.IgnoredBy(db.Name)
			}
		}
	}
}
