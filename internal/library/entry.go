package library

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/setup"
	"github.com/docsearch/docsearch/internal/usererror"
)

// ConfigEntry returns the config entry with a name, or else that of the database in dir. It
// returns false if there is neither.
func ConfigEntry(l config.Locations, name, dir string) (config.Database, bool, error) {
	r, err := load.Load(l)
	if err != nil {
		return config.Database{}, false, usererror.WithHint(err, "run docsearch config check to list all problems")
	}
	all := r.Config.Databases
	at := slices.IndexFunc(all, func(d config.Database) bool { return strings.EqualFold(d.Name, name) })
	if at < 0 {
		at = slices.IndexFunc(all, func(d config.Database) bool { return IsEntryOf(&d, dir) })
	}
	if at < 0 {
		return config.Database{}, false, nil
	}
	return all[at], true, nil
}

// IsEntryOf reports whether a config entry belongs to the database in dir.
func IsEntryOf(entry *config.Database, dir string) bool {
	located, err := index.Locate(entry.Path)
	return err == nil && SamePath(located, dir) || SamePath(entry.Path, dir)
}

// ProposeEntry returns the config entry for the database of a plan, from the documentation, and
// from the recipe or the pack unless they are nil. An entry that the config has, unless it is
// nil, keeps its values.
func (p *Plan) ProposeEntry(
	name string, found *setup.Suggestions, r *ChosenRecipe, c *ChosenPack, old *config.Database,
) edit.Entry {
	e := edit.Entry{Name: name, Keywords: found.Keywords(), Path: p.Dir,
		Description: found.Description(), URLs: found.Prefixes()}
	if r != nil {
		e.Keywords, e.Description, e.Version = r.Keywords, r.Title+" documentation", r.NumericVersion()
		if len(r.URLs) > 0 {
			e.URLs = r.URLs
		}
	}
	version, packages := p.Documents()
	e.Version, e.Packages = cmp.Or(e.Version, version), packages
	if c != nil {
		e.Keywords, e.Description, e.URLs = c.Head.Keywords, c.Head.Description, c.URLs
		e.Publisher = c.Publisher.Name()
	}
	if old != nil {
		e.Name, e.Keywords, e.Description = old.Name, old.Keywords, old.Description
		if IsEntryOf(old, p.Dir) {
			e.Path = old.Path
		}
		if len(old.URLs) > 0 || c != nil {
			e.URLs = old.URLs // a pack does not change an earlier decision
		}
	}
	return e
}

// ReportSharedKeywords warns of keywords of an entry that another database also has. A search
// that contains one searches both databases.
func ReportSharedKeywords(entry config.Database, all []config.Database, warn func(format string, args ...any)) {
	for _, other := range all {
		for _, k := range other.Keywords {
			if other.Entry != entry.Entry &&
				slices.ContainsFunc(entry.Keywords, func(own string) bool { return strings.EqualFold(own, k) }) {
				warn("%s also has the keyword %q: a search that contains it searches both databases", other.Name, k)
			}
		}
	}
}
