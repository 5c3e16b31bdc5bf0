package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
)

func newPackCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "pack",
		Short: "Make, add, and update packs: databases to share",
		Long: `Make, add, and update packs. A pack is a signed file with the passages of a
database. The reader builds the index from them and compares it with the
publisher's, so a pack is small and cannot contain a crafted index.`,
	})
	cmd.AddCommand(newPackMakeCommand(a), newPackSignCommand(a), newPackAddCommand(a), newPackVerifyCommand(a),
		newPackListCommand(a),
		newPackUpdateCommand(a), newPackRemoveCommand(a), a.movedTo("recipes list", newRecipesListCommand(a, "search")), newPackKeyCommand(a))
	return cmd
}

// findPack resolves the name of an installed pack.
func (a *app) findPack(arg string) (library.InstalledPack, error) {
	d, err := a.database(arg)
	if err != nil {
		return library.InstalledPack{}, err
	}
	p, ok := library.AsPack(d)
	if !ok {
		return p, withHint(fmt.Errorf("%s did not come as a pack", d.Name), "run docsearch pack list")
	}
	return p, nil
}

// describePack prints what a pack contains and who signed it.
func (a *app) describePack(h *pack.Head, publisher string) {
	fmt.Fprintf(a.stdout, "%s: %s of %s, %s\n", strings.TrimSpace(h.Title+" "+h.Version), count(h.Passages, "passage"),
		count(h.Documents, "document"), size(h.Data.Size))
	source := cmp.Or(h.Source.Location, h.Source.Kind)
	for _, d := range []string{h.Source.Commit, h.Source.Date} {
		if d != "" {
			source += ", " + d
		}
	}
	fmt.Fprintf(a.stdout, "source: %s\nlicense: %s, %s\n", source, h.License, h.Attribution)
	fmt.Fprintf(a.stdout, "keywords: %s\n", strings.Join(h.Keywords, ", "))
	if len(h.URLs) > 0 {
		fmt.Fprintf(a.stdout, "pages: %s\n", strings.Join(h.URLs, ", "))
	}
	if publisher != "" {
		fmt.Fprintf(a.stdout, "publisher: %s\n", publisher)
	}
}

// completePacks completes the names of installed packs.
func (a *app) completePacks(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	list, err := library.InstalledPacks()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := collect(list, func(p library.InstalledPack) string { return p.Name })
	slices.Sort(names)
	return beginning(names, start), cobra.ShellCompDirectiveNoFileComp
}
