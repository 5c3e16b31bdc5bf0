package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/origins"
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

"docsearch update" also updates packs.`,
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
		list, err := library.InstalledPacks()
		if err != nil {
			return err
		}
		chosen = collect(list, func(p library.InstalledPack) library.Ref { return p.Ref })
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

// printPack prints how many bytes a build received, and how its index differs.
func (a *app) printPack(label string, d *pack.Database) {
	fmt.Fprintf(a.stdout, "%s: received %s of %s\n", label, size(d.Received),
		size(int64(len(d.Head.Raw))+d.Head.Chunks.Size+d.Head.Data.Size))
	if d.Note != "" {
		fmt.Fprintf(a.stdout, "%s: %s\n", label, d.Note)
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
	list, err := library.InstalledPacks()
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
			entries = append(entries,
				entry{p.Name, p.Head.Version, string(p.Publisher()), p.Head.Digest(), p.Info.Source.Location, p.Info.Dir})
		}
		return a.printJSON(entries)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stdout, "no packs; to add one, run: docsearch pack add SOURCE")
		return nil
	}
	table := terminal.NewTable(a.stdout, "NAME\tVERSION\tPUBLISHER\tSOURCE")
	for _, p := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name, printable(p.Head.Version), printable(p.Publisher().Name()),
			printable(p.Info.Source.Location))
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

func (a *app) verifyInstalled(p library.InstalledPack) error {
	wrong, err := pack.CheckInstalled(library.GenerationOf(p.Info), p.Head)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return withHint(fmt.Errorf("%s differs from the pack: %s", p.Name, wrong[0]), "run docsearch index build %s",
			quoteArgument(p.Name))
	}
	fmt.Fprintf(a.stdout, "%s: %s %s, signed by %s: ok\n", p.Name, p.Head.Name, p.Head.Version, p.Publisher().ID())
	return nil
}

// verifyPack builds the database of a pack in a temporary folder.
func (a *app) verifyPack(ctx context.Context, location string, given []string) error {
	trusted, err := library.TrustedKeys(console{a}, given)
	if err != nil {
		return err
	}
	head, err := origins.ReadHead(ctx, location)
	if err != nil {
		return origins.Explain(location, err)
	}
	key, _, err := head.Signatures.Verify(head.Subject(), trusted)
	if err != nil {
		return library.ExplainSignature(err)
	}
	dir, err := os.MkdirTemp("", "docsearch-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source := library.NewPackSource(config.Locations{Cache: dir}, buildVersion(), location,
		library.IsSamePack(head, location))
	start := time.Now()
	display := progress.New(a.stderr, progress.StyleFor(a.stderr))
	info, err := index.Build(ctx, filepath.Join(dir, "database"), source,
		index.BuildOptions{Tool: buildVersion(), Language: head.Language, Report: display.Func()})
	display.Close()
	if err != nil {
		return origins.Explain(location, err)
	}
	a.describePack(source.Head, string(key))
	if source.Note != "" {
		fmt.Fprintln(a.stdout, source.Note)
	}
	fmt.Fprintf(a.stdout, "%s: %s, verified in %s: ok\n", source.Head.Name, count(info.Passages, "passage"),
		time.Since(start).Round(10*time.Millisecond))
	return nil
}
