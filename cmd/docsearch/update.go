package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/searching"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/web/machine"
)

type updateCommand struct {
	*app
	all, full, watch bool
	mirrors          bool               // update the mirrors of team servers
	project          bool               // update the databases of a project's packages
	lock             bool               // record packs in the lock file
	background       bool               // update in a background process
	reindex          bool               // only rebuild the indexes of an older format
	isDetached       bool               // this is the background process
	prompter         *terminal.Prompter // asks about publishers of mirrors; nil: not at a terminal
	keys             []string           // public keys that the user gave for mirrors
	wait             time.Duration
	quiet, json      bool
}

func newUpdateCommand(a *app) *cobra.Command {
	u := &updateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "update {NAME|PATH}... | --all | --project [DIR] | --mirrors",
		Short: "Update databases from their sources",
		Long: `Update databases from their sources. An update reads, downloads, and indexes only
changed documents. Unchanged passages keep their ids, and passages of removed
documents are removed. If the source is unchanged, no file is written.

Documents that cannot be read are not deleted: their passages stay, and the update
reports them. If a source has lost more than a quarter of its documents, or a site
shows one page instead of them, such as a login page, an update keeps these, too. To
remove them, run "docsearch index build".

An update reads only sources that you passed to a build on this machine. To update
a database from another machine, first build it from its source.

With --project, build databases of the packages whose versions have changed in the
lock files of DIR, by default the working directory: those that have a database of
another version, and whose new version is installed. Nothing is downloaded.

With --mirrors, build and update the mirrors of team servers whose config entry has
"mirror". --all does this, too.

If an older docsearch wrote an index in a format that this one does not read, an update
first rebuilds it from the database's own passages, without its source.

With --background, another process updates the databases one after another, each
at most once per day, or at once if the index has an older format. A hook can run this
when a session starts.`,
		Example: `  docsearch update python
  docsearch update --all
  docsearch update widgets --watch
  docsearch update --project`,
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			return u.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&u.all, "all", false, "update all databases that have an index")
	f.BoolVar(&u.project, "project", false, "build databases of changed package versions of the project in DIR")
	f.BoolVar(&u.mirrors, "mirrors", false, "build and update the mirrors of team servers")
	f.BoolVar(&u.full, "full", false, "read and index all documents, as a build does")
	f.BoolVar(&u.watch, "watch", false, "update when files change, until interrupted (folders only)")
	f.BoolVar(&u.background, "background", false,
		"return at once and update in the background; log to docsearch's cache folder")
	f.BoolVar(&u.isDetached, "detached", false, "")
	f.MarkHidden("detached")
	f.BoolVar(&u.reindex, "reindex", false, "") // a hook runs it where updates are off
	f.MarkHidden("reindex")
	f.DurationVar(&u.wait, "wait", 0, waitHelp)
	f.BoolVar(&u.json, "json", false, jsonLines)
	f.BoolVarP(&u.quiet, "quiet", "q", false, "print errors only")
	markExclusive(cmd, "watch", "background", "full")
	markExclusive(cmd, "project", "all", "watch", "full", "mirrors")
	markExclusive(cmd, "mirrors", "background")
	return cmd
}

func (u *updateCommand) run(ctx context.Context, args []string) error {
	if u.project {
		return u.runProject(ctx, args)
	}
	if u.mirrors && len(args) == 0 {
		return u.updateMirrors(ctx, !u.isDetached)
	}
	if u.all == (len(args) > 0) || u.mirrors {
		return usagef("update needs database names or --all, not both")
	}
	chosen, err := u.choose(args)
	switch {
	case err != nil:
		return err
	case u.background:
		return u.inBackground(chosen).Start()
	case u.isDetached:
		return u.updateOverdue(ctx, chosen)
	case u.watch:
		return library.Watch(ctx, u.builder(), chosen, func(d library.Ref) {
			if err := u.update(ctx, d); err != nil && ctx.Err() == nil {
				report(u.stderr, err)
			}
		})
	case u.all && !u.reindex:
		return cmp.Or(u.updateAll(ctx, chosen), u.updateMirrors(ctx, false))
	}
	return u.updateAll(ctx, chosen)
}

// updateMirrors builds and updates the mirrors of the config's servers; see
// served.Mirrors.Stale.
func (u *updateCommand) updateMirrors(ctx context.Context, stale bool) error {
	m := served.Mirrors{Builder: u.builder(), Asker: askerOf(u.prompter), Keys: u.keys, Stale: stale,
		Done: u.printResult}
	ok, err := m.Update(ctx)
	return cmp.Or(err, failureIf(!ok))
}

// updateAll updates databases and continues after failures.
func (u *updateCommand) updateAll(ctx context.Context, chosen []library.Ref) error {
	failed := false
	for _, d := range chosen {
		err := u.update(ctx, d)
		switch {
		case err == nil:
		case u.all && errors.Is(err, library.ErrUnverifiedSource):
			report(u.stderr, err) // the user did not name it
		case len(chosen) == 1 || ctx.Err() != nil:
			return err
		default:
			failed = true
			report(u.stderr, err)
		}
	}
	return failureIf(failed)
}

// inBackground returns the update of databases in the background.
func (u *updateCommand) inBackground(chosen []library.Ref) *library.Background {
	return &library.Background{Chosen: chosen, Tool: buildVersion(), ReindexOnly: u.reindex}
}

// updateOverdue rebuilds indexes of an older format, and then updates the overdue
// databases, unless another process is already doing so.
func (u *updateCommand) updateOverdue(ctx context.Context, chosen []library.Ref) error {
	return u.inBackground(chosen).Run(func(outdated, overdue []library.Ref) error {
		failed := false
		for _, d := range outdated {
			if err := u.remake(ctx, d); err != nil {
				failed = true
				report(u.stderr, err)
			}
		}
		return cmp.Or(u.updateAll(ctx, overdue), failureIf(failed))
	})
}

// choose resolves the arguments, or returns all databases with an index if the user
// chose all.
func (u *updateCommand) choose(args []string) ([]library.Ref, error) {
	if !u.all {
		return searching.Select(args, nil, false)
	}
	return library.Updatable(config.Locate(os.Getenv))
}

// update updates one database.
func (u *updateCommand) update(ctx context.Context, d library.Ref) error {
	if library.IsOutdated(d) {
		if err := u.remake(ctx, d); err != nil {
			return err
		}
	}
	if u.reindex {
		return nil
	}
	before, err := index.Inspect(d.Path)
	if err != nil {
		return library.WithRepair(d.Path, err)
	}
	if d.Project != "" {
		return withHint(fmt.Errorf("cannot update %s: it documents a package of the project %s as it was installed", d.Name,
			d.Project), "run docsearch update --project %s", quoteArgument(d.Project))
	}
	if library.PackageMoved(before) {
		if !u.quiet && !u.json {
			fmt.Fprintf(u.stdout, "%s: the package is no longer installed in this version; no changes\n", d.Name)
		}
		return nil
	}
	b := u.builder()
	p, err := b.PlanUpdate(d, before, u.full)
	if err != nil {
		return err
	}
	done, err := b.Update(ctx, &p, before)
	if err != nil {
		return err
	}
	return u.printResult(done)
}

// remake rebuilds an index of an older format.
func (u *updateCommand) remake(ctx context.Context, d library.Ref) error {
	display := u.quietDisplay(u.quiet || u.json)
	info, err := library.Remake(ctx, d, u.wait, display.Func())
	display.Close()
	if err == nil && !u.quiet && !u.json {
		fmt.Fprintf(u.stdout, "%s: the index had an older format; rebuilt from its %s\n",
			d.Name, count(info.Passages, "passage"))
	}
	return err
}

// builder returns a builder that updates databases.
func (u *updateCommand) builder() library.Builder {
	b := newBuildCommand(u.app)
	b.Wait, b.quiet, b.json, b.IsUpdate, b.Lock = u.wait, u.quiet, u.json, true, u.lock
	return b.Builder
}

// printResult prints what changed.
func (u *updateCommand) printResult(done *library.Updated) error {
	p, info := done.Plan, done.After
	unchanged := info.Generation == done.Before.Generation
	if u.json {
		return json.NewEncoder(u.stdout).Encode(struct {
			Updated   machine.Info     `json:"updated"`
			Unchanged bool             `json:"unchanged"`
			Fetched   *machine.Fetched `json:"fetched,omitempty"`
			Kept      library.Kept     `json:"kept,omitzero"`
		}{machine.NewInfo(p.Label, library.StateOK, "", info), unchanged, machine.NewFetched(p), library.KeptBy(p)})
	}
	if u.quiet {
		return nil
	}
	u.printFetched(p)
	u.printKept(p, info)
	switch {
	case unchanged && info.Repaired:
		fmt.Fprintf(u.stdout, "%s: no changes; rewrote corrupt LEANN files\n", p.Label)
		return nil
	case unchanged:
		fmt.Fprintf(u.stdout, "%s: no changes\n", p.Label)
		return nil
	}
	fmt.Fprintf(u.stdout, "%s: %s%s of %s, updated in %s\n", p.Label, changeSummary(done), count(info.Passages, "passage"),
		count(info.Documents, "document"), done.Took.Round(10*time.Millisecond))
	return nil
}

// changeSummary counts the changed documents, if documents were reused and the source
// reports changes.
func changeSummary(done *library.Updated) string {
	source, ok := done.Source.(ingest.ChangeReporter)
	if !ok || !done.Reused {
		return ""
	}
	c := source.Changes()
	parts := appendCount(nil, c.New, "new")
	parts = appendCount(parts, c.Changed, "changed")
	parts = appendCount(parts, c.Removed, "removed")
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "; "
}

// appendCount appends a number with its label to the parts of a summary, unless it is 0.
func appendCount(parts []string, n int, label string) []string {
	if n == 0 {
		return parts
	}
	return append(parts, thousands(n)+" "+label)
}
