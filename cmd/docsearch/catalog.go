package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/catalog"
	"github.com/docsearch/docsearch/internal/pack/origins"
)

func newCatalogCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "catalog",
		Short: "Add, update, and make catalogs of packs",
		Long: `Add, update, and make catalogs of packs. A catalog is a signed list of packs, so that
"docsearch setup NAME" finds them. Several catalogs are searched in the order of
"catalogs" in the config.`,
	})
	cmd.AddCommand(newCatalogAddCommand(a), newCatalogListCommand(a), newCatalogUpdateCommand(a), newCatalogMakeCommand(a))
	return cmd
}

func newCatalogAddCommand(a *app) *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use:   "add SOURCE",
		Short: "Add a catalog to the config",
		Long: `Download a catalog, verify its signature, and add it to the config. SOURCE is a file, an
OCI layout folder (DIR:TAG), an https URL, or a catalog in a registry
(oci://REGISTRY/REPOSITORY:TAG).`,
		Example: `  docsearch catalog add https://docs.example.com/packs/catalog
  docsearch catalog add oci://registry.example.com/docs/catalog:latest`,
		Args: oneArgument("the source of a catalog"),
		RunE: func(cmd *cobra.Command, args []string) error {
			location, err := origins.Absolute(args[0])
			if err != nil {
				return err
			}
			c, key, err := library.RefreshCatalog(cmd.Context(), console{a}, askerOf(terminal.NewPrompter(a.stdin, a.stderr)),
				location, keys)
			if err != nil {
				return err
			}
			if err := errors.Join(library.SavePublisher(console{a}, key),
				library.AppendConfig(console{a}, "catalogs", "the catalog "+c.Name, location)); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: %s, signed by %s, valid until %s\n", c.Name, count(len(c.Packs), "pack"), key.ID(),
				c.Expires.Format("2006-01-02"))
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "trust the public key `KEY` from now on (repeatable)")
	return cmd
}

func newCatalogListCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the catalogs of the config",
		Args:  noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error { return a.listCatalogs(asJSON) })
}

func (a *app) listCatalogs(asJSON bool) error {
	all, err := library.KnownCatalogs()
	if err != nil {
		return err
	}
	if asJSON {
		type entry struct {
			Source  string           `json:"source"`
			Problem string           `json:"problem,omitempty"`
			Catalog *catalog.Catalog `json:"catalog,omitempty"`
		}
		list := []entry{}
		for _, k := range all {
			e := entry{Source: k.Location, Catalog: k.Catalog}
			if k.Err != nil {
				e.Problem = k.Err.Error()
			}
			list = append(list, e)
		}
		return a.printJSON(list)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "no catalogs; to add one, run: docsearch catalog add SOURCE")
		return nil
	}
	table := terminal.NewTable(a.stdout, "NAME\tSTATE\tPACKS\tCOUNTER\tEXPIRES\tSOURCE")
	for _, k := range all {
		if k.Catalog == nil {
			fmt.Fprintf(table, "-\t%s\t-\t-\t-\t%s\n", userMessage(k.Err), printable(k.Location))
			continue
		}
		state := "ok"
		if k.Err != nil {
			state = "expired"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\n", k.Name, state, len(k.Packs), k.Counter, k.Expires.Format("2006-01-02"),
			printable(k.Location))
	}
	return table.Flush()
}

func newCatalogUpdateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "update",
		Short: "Download the newest versions of the catalogs",
		Long: `Download the newest versions of the catalogs in the config. A version that is older
than one that this machine has seen, or that has expired, is refused.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.updateCatalogs(cmd.Context()) },
	}
}

func (a *app) updateCatalogs(ctx context.Context) error {
	locations, err := library.ConfiguredCatalogs()
	if err != nil {
		return err
	}
	failed := false
	for _, l := range locations {
		c, _, err := library.RefreshCatalog(ctx, console{a}, nil, l, nil)
		if err != nil {
			failed = true
			report(a.stderr, err)
			continue
		}
		fmt.Fprintf(a.stdout, "%s: %s, counter %d, valid until %s\n", c.Name, count(len(c.Packs), "pack"), c.Counter,
			c.Expires.Format("2006-01-02"))
	}
	return failureIf(failed)
}

type catalogMakeCommand struct {
	*app
	library.SigningFiles
	output, base string
	valid        time.Duration
	counter      int64
}

func newCatalogMakeCommand(a *app) *cobra.Command {
	m := &catalogMakeCommand{app: a}
	cmd := &cobra.Command{
		Use:   "make NAME PACK...",
		Short: "Make a catalog of packs and sign it",
		Long: `Make a catalog of packs and sign it. PACK is a file, an https URL, or a pack in a
registry. For files, pass the URL of their folder on the server with --base.

The counter of the catalog grows with each version: by default, it is one more
than that of the catalog that the output replaces.`,
		Example: `  docsearch catalog make team *.dspack --base https://docs.example.com/packs/ -o catalog
  docsearch catalog make team oci://registry.example.com/docs/widgets:2.1 -o oci://registry.example.com/docs/catalog:latest`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("%s needs a name and packs", commandName(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&m.output, "output", "o", "catalog",
		"write the catalog to `FILE`, an OCI layout DIR:TAG, or oci://REGISTRY/REPOSITORY:TAG")
	f.StringVar(&m.base, "base", "", "set the source of packs that are files to a name below `URL`")
	f.DurationVar(&m.valid, "valid", 90*24*time.Hour, "let the catalog expire after `DURATION`")
	f.Int64Var(&m.counter, "counter", 0, "set the counter to `N` (default: one more than that of the output)")
	f.StringArrayVar(&m.Keys, "key", nil, "sign with the private key in `FILE` (repeatable; default: your key)")
	f.StringArrayVar(&m.Rotations, "rotation", nil,
		"include the output of docsearch pack key rotate in `FILE` (repeatable)")
	return cmd
}

func (m *catalogMakeCommand) run(ctx context.Context, name string, packs []string) error {
	keys, rotations, err := m.ReadKeys()
	if err != nil {
		return err
	}
	c := &catalog.Catalog{Format: catalog.Format, Name: name, Counter: m.counter,
		Expires: time.Now().Add(m.valid).UTC().Truncate(time.Second)}
	if c.Counter == 0 {
		if c.Counter, err = library.NextCounter(ctx, m.output); err != nil {
			return err
		}
	}
	for _, source := range packs {
		e, err := library.CatalogEntry(ctx, source, m.base)
		if err != nil {
			return origins.Explain(source, err)
		}
		c.Packs = append(c.Packs, e)
	}
	signed, err := catalog.Sign(c, keys, rotations)
	if err != nil {
		return err
	}
	if err := origins.Write(ctx, m.output, signed, pack.KindCatalog); err != nil {
		return err
	}
	fmt.Fprintf(m.stdout, "wrote %s: %s, counter %d, valid until %s\n", m.output, count(len(c.Packs), "pack"), c.Counter,
		c.Expires.Format("2006-01-02"))
	return nil
}
