package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/web/machine"
)

// remoteInfo shows a database that another machine holds.
func (a *app) remoteInfo(ctx context.Context, d library.Ref, asJSON bool) error {
	remotes := served.OpenRemotes(config.Locate(os.Getenv))
	defer remotes.Close()
	all, _ := remotes.Describe(ctx)
	at := slices.IndexFunc(all, func(i served.Info) bool { return i.Name == d.Name })
	if at < 0 {
		return fmt.Errorf("%s no longer has the database %q", d.Host, d.Name)
	}
	i := &all[at]
	if i.Err != nil {
		return withHint(fmt.Errorf("cannot ask for %s: %w", d.Label(), i.Err), "run docsearch doctor to check the server")
	}
	if asJSON {
		return a.printJSON(newRemoteJSON(i))
	}
	a.printRow("name", "%s", printable(i.Name))
	a.printRow("server", "%s (%s), database %s", i.URL, i.Kind(), printable(i.RemoteName))
	a.printRow("state", "%s", library.StateOK)
	if i.Version != "" {
		a.printRow("version", "%s", printable(i.Version))
	}
	if i.Passages > 0 {
		a.printRow("passages", "%s of %s", thousands(i.Passages), count(i.Documents, "document"))
	}
	if c := i.Commit; c != nil {
		a.printRow("pushed", "%s (%s) by docsearch %s", c.Pushed.Local().Format("2006-01-02 15:04"),
			age(time.Since(c.Pushed)), printable(c.Tool))
	}
	return nil
}

// newRemoteJSON returns the JSON form of a database that another machine holds.
func newRemoteJSON(i *served.Info) machine.Info {
	j := machine.Info{Name: i.Name, Server: i.URL, Passages: i.Passages, Documents: i.Documents, Version: i.Version}
	j.State, j.Why = i.State()
	if i.Commit != nil {
		j.Pushed = &i.Commit.Pushed
	}
	return j
}

// remoteRow returns the line of such a database in the table of list.
func remoteRow(i *served.Info) string {
	state, why := i.State()
	passages, documents, pushed, place := "-", "-", "-", i.URL+" ("+i.Kind()+")"
	if why != "" {
		place += ": " + printable(why)
	}
	if i.Passages > 0 && i.Err == nil {
		passages, documents = thousands(i.Passages), thousands(i.Documents)
	}
	if i.Commit != nil {
		pushed = i.Commit.Pushed.Local().Format("2006-01-02 15:04")
	}
	place += library.Off(i.Ignored)
	return strings.Join([]string{printable(i.Name), state, passages, documents, pushed, place}, "\t")
}

// describeRemotes returns the databases that other machines hold. It reports servers that
// do not answer and whose databases are not known.
func (a *app) describeRemotes(ctx context.Context, l config.Locations) []served.Info {
	remotes := served.OpenRemotes(l)
	defer remotes.Close()
	all, unlisted := remotes.Describe(ctx)
	for url, err := range unlisted {
		report(a.stderr, fmt.Errorf("cannot list the databases of %s: %w", url, err))
	}
	return all
}
