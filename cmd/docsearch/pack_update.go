package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/progress"
)

func newPackUpdateCommand(a *app) *cobra.Command {
	u := &updateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "update NAME... | --all",
		Short: "Update databases that came as packs",
		Long: `Update databases that came as packs, from where they came. An update downloads only
the changed parts of a pack. It verifies the same publisher, and refuses a pack that
is older than the installed one, by its version or by the time of its signature.

"docsearch index update" also updates packs.`,
		Example: `  docsearch pack update django
  docsearch pack update --all --lock`,
		ValidArgsFunction: a.completePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			return u.runPacks(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&u.all, "all", false, "update all packs")
	f.BoolVar(&u.lock, "lock", false, "record the new versions in docsearch.lock of this project")
	f.DurationVar(&u.wait, "wait", 0, waitHelp)
	f.BoolVar(&u.json, "json", false, jsonLines)
	f.BoolVarP(&u.quiet, "quiet", "q", false, "print errors only")
	return cmd
}

// runPacks updates the named packs or all.
func (u *updateCommand) runPacks(ctx context.Context, args []string) error {
	if u.all == (len(args) > 0) {
		return usagef("pack update needs names or --all, not both")
	}
	var chosen []library.Ref
	if u.all {
		list, err := u.installedPacks()
		if err != nil {
			return err
		}
		chosen = collect(list, func(p installedPack) library.Ref { return p.Ref })
	}
	for _, arg := range args {
		p, err := u.findPack(arg)
		if err != nil {
			return err
		}
		chosen = append(chosen, p.Ref)
	}
	return u.updateAll(ctx, chosen)
}

// packUpdate returns the source for the update of the database in dir that came as a pack.
// The publisher must be the recorded one, or a key that its rotations name.
func (b *buildCommand) packUpdate(dir, publisher, location string) *pack.Database {
	return newPackSource(config.Locate(os.Getenv), location, func(ctx context.Context, head *pack.Head) error {
		key, err := b.trust(ctx, nil, head.Signatures, head.Subject(), nonEmpty(publisher))
		if err == nil && string(key) != publisher {
			err = b.savePublisher(key) // a rotation
		}
		if err != nil {
			return err
		}
		if recorded := pack.Key(publisher); publisher != "" && key.Name() != recorded.Name() {
			return fmt.Errorf("the pack %s is now signed by %s, before by %s", head.Name, key.Name(), recorded.Name())
		}
		if err := checkOrder(dir, location, head); err != nil {
			return err
		}
		if b.lock {
			return nil // record changes the lock file later
		}
		return checkLock(head, "pass --lock to change the lock file")
	})
}

// checkOrder returns an error if the pack at a location may be older than the one that the
// database in dir came as. It reads that pack itself, so that the order counts for a
// rebuild, too.
func checkOrder(dir, location string, head *pack.Head) error {
	have, ok := asPack(library.Ref{Path: dir})
	if !ok {
		return nil
	}
	if head.Name != have.head.Name {
		return withHint(fmt.Errorf("%s now has the pack %s, before %s", printable(location), head.Name, have.head.Name), "run docsearch pack add %s to add it", quoteArgument(location))
	}
	if older, ok := errors.AsType[*pack.OrderError](head.CheckOrder(have.head)); ok {
		return withHint(fmt.Errorf("%s has %s", printable(location), printable(older.Found)), "to go back to it, run docsearch pack add %s --digest %s", quoteArgument(location), head.Digest())
	}
	return nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// printPack prints how many bytes a build received, and how its index differs.
func (b *buildCommand) printPack(label string, d *pack.Database) {
	fmt.Fprintf(b.stdout, "%s: received %s of %s\n", label, size(d.Received), size(int64(len(d.Head.Raw))+d.Head.Chunks.Size+d.Head.Data.Size))
	if d.Note != "" {
		fmt.Fprintf(b.stdout, "%s: %s\n", label, d.Note)
	}
}

func newPackListCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List databases that came as packs",
		Args:  noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error { return a.listPacks(asJSON) })
}

func (a *app) listPacks(asJSON bool) error {
	list, err := a.installedPacks()
	if err != nil {
		return err
	}
	if asJSON {
		type entry struct {
			Name      string `json:"name"`
			Version   string `json:"version"`
			Publisher string `json:"publisher"`
			Digest    string `json:"digest"`
			Source    string `json:"source"`
			Path      string `json:"path"`
		}
		entries := []entry{}
		for _, p := range list {
			entries = append(entries, entry{p.Name, p.head.Version, string(p.publisher()), p.head.Digest(), p.info.Source.Location, p.info.Dir})
		}
		return a.printJSON(entries)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stdout, "no packs; to add one, run: docsearch pack add SOURCE")
		return nil
	}
	table := newTable(a.stdout, "NAME\tVERSION\tPUBLISHER\tSOURCE")
	for _, p := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name, printable(p.head.Version), printable(p.publisher().Name()), printable(p.info.Source.Location))
	}
	return table.Flush()
}

func newPackRemoveCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "remove NAME",
		Short:             "Remove a database that came as a pack, and its config entry",
		Args:              oneArgument("the name of a pack"),
		ValidArgsFunction: a.completePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.findPack(args[0])
			if err != nil {
				return err
			}
			return a.remove(cmd.Context(), p.Ref, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove without confirmation")
	return cmd
}

func newPackVerifyCommand(a *app) *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify SOURCE|NAME",
		Short: "Verify a pack or a database that came as one",
		Long: `Verify a pack: its signatures, its passages, and the index that they make. SOURCE is
any source of "docsearch pack add". Nothing is added. For the NAME of a database
that came as a pack, compare its files with the manifest of the pack.`,
		Example: `  docsearch pack verify ./widgets-2.1.dspack
  docsearch pack verify django`,
		Args:              oneArgument("a pack or the name of a database"),
		ValidArgsFunction: a.completePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			if !library.IsPath(args[0]) && !library.FileExists(args[0]) {
				p, err := a.findPack(args[0])
				if err != nil {
					return err
				}
				return a.verifyInstalled(p)
			}
			return a.verifyPack(cmd.Context(), args[0], keys)
		},
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "accept signatures of the public key `KEY` (repeatable)")
	return cmd
}

func (a *app) verifyInstalled(p installedPack) error {
	wrong, err := pack.CheckInstalled(library.GenerationOf(p.info), p.head)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return withHint(fmt.Errorf("%s differs from the pack: %s", p.Name, wrong[0]), "run docsearch index build %s", quoteArgument(p.Name))
	}
	fmt.Fprintf(a.stdout, "%s: %s %s, signed by %s: ok\n", p.Name, p.head.Name, p.head.Version, p.publisher().ID())
	return nil
}

// verifyPack builds the database of a pack in a temporary folder.
func (a *app) verifyPack(ctx context.Context, location string, given []string) error {
	trusted, err := a.trustedKeys(given)
	if err != nil {
		return err
	}
	head, err := readHead(ctx, location)
	if err != nil {
		return explainPack(location, err)
	}
	key, _, err := head.Signatures.Verify(head.Subject(), trusted)
	if err != nil {
		return explainSignature(err)
	}
	dir, err := os.MkdirTemp("", "docsearch-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source := newPackSource(config.Locations{Cache: dir}, location, isSamePack(head, location))
	start := time.Now()
	display := progress.New(a.stderr, progress.StyleFor(a.stderr))
	info, err := index.Build(ctx, filepath.Join(dir, "database"), source, index.BuildOptions{Tool: buildVersion(), Language: head.Language, Report: display.Func()})
	display.Close()
	if err != nil {
		return explainPack(location, err)
	}
	a.describePack(source.Head, string(key))
	if source.Note != "" {
		fmt.Fprintln(a.stdout, source.Note)
	}
	fmt.Fprintf(a.stdout, "%s: %s, verified in %s: ok\n", source.Head.Name, count(info.Passages, "passage"), time.Since(start).Round(10*time.Millisecond))
	return nil
}
