package hook

import (
	"errors"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
)

// databasesOfURL returns the databases with a URL prefix that matches the fetched page, in
// config order. Only their indexes know whether they contain that page, and, if the config
// has no version, whether a number in the URL is their version.
func databasesOfURL(f event.Fetch, dbs []config.Database) []*config.Database {
	page, ok := urlmatch.Parse(f.URL)
	if !ok {
		return nil
	}
	var found []*config.Database
	for i := range dbs {
		db := &dbs[i]
		version := db.Version
		if version == "" {
			version = urlmatch.AnyVersion
		}
		within := func(prefix string) bool {
			_, ok := page.Within(prefix, version)
			return ok
		}
		if db.Mode != config.ModeOff && slices.ContainsFunc(db.URLs, within) {
			found = append(found, db)
		}
	}
	return found
}

// findPage looks the fetched page up in one database. It returns false if the database
// does not contain it. Any page found answers the fetch, regardless of confidence, because
// the agent asked for that page.
func (d *decider) findPage(db *config.Database, r *event.Request) (result, bool) {
	o := d.newResult(db, r)
	answer, held, err := d.search.Page(db, r.Fetch)
	switch {
	case d.postponed(db, err):
		return o, false
	case errors.Is(err, generation.ErrNoIndex) && !o.own:
		d.trace("database %s: cannot check whether it contains the page", db.Name)
		return o, false
	case err != nil:
		d.fault("database %s skipped: %v", db.Name, err)
		return o, false
	case !held || len(answer.Passages) == 0:
		d.trace("database %s does not contain the page", db.Name)
		return o, false
	}
	o.page = answer.Passages[0].Page()
	d.trace("database %s contains the page as %s: mode %s, tool %s", db.Name, o.page, db.Mode, o.tool)
	switch {
	case db.Mode == config.ModeAdvise:
		o.adviceOnly = true
	case answer.AdviceOnly != "":
		d.trace("database %s: advice only, %s", db.Name, answer.AdviceOnly)
		o.adviceOnly = true
	case db.Mode == config.ModeRedirect:
	default:
		o.Answer = answer
	}
	return o, true
}

// readArguments returns the arguments of the call that reads a document, as JSON.
func readArguments(document, database string) string {
	name := "path"
	if strings.Contains(document, "://") {
		name = "url"
	}
	return "{" + quote(name) + ": " + quote(document) + ", \"database\": " + quote(database) + "}"
}
