package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/catalog"
	"github.com/docsearch/docsearch/internal/pack/registry"
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
			location, err := absoluteLocation(args[0])
			if err != nil {
				return err
			}
			c, key, err := a.refreshCatalog(cmd.Context(), newPrompter(a.stdin, a.stderr), location, keys)
			if err != nil {
				return err
			}
			if err := errors.Join(a.savePublisher(key), a.appendConfig("catalogs", "the catalog "+c.Name, location)); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: %s, signed by %s, valid until %s\n", c.Name, count(len(c.Packs), "pack"), key.ID(), c.Expires.Format("2006-01-02"))
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "trust the public key `KEY` from now on (repeatable)")
	return cmd
}

// refreshCatalog downloads a catalog, verifies it, and stores it.
func (a *app) refreshCatalog(ctx context.Context, p *prompter, location string, keys []string) (*catalog.Catalog, pack.Key, error) {
	data := config.Locate(os.Getenv).Data
	if data == "" {
		return nil, "", errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set")
	}
	origin, err := openOrigin(ctx, location, pack.KindCatalog)
	if err != nil {
		return nil, "", err
	}
	defer origin.Close()
	var key pack.Key
	c, raw, err := catalog.Read(ctx, origin, func(s *pack.Signatures, subject pack.Subject) (err error) {
		key, err = a.trust(ctx, p, s, subject, keys)
		return err
	})
	if err != nil {
		return nil, "", explainPack(location, err)
	}
	store := catalog.StoreIn(data)
	if err := store.Check(location, c, raw.Manifest, time.Now()); err != nil {
		return nil, "", withHint(err, "ask the publisher %s for a new version", key.Name())
	}
	return c, key, store.Put(location, raw)
}

// configuredCatalogs returns the locations of the catalogs in the config.
func configuredCatalogs() ([]string, error) {
	loaded, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return nil, withHint(err, "run docsearch config check to list all problems")
	}
	home := config.Home(os.Getenv)
	return collect(loaded.Config.Catalogs, func(c string) string { return config.Expand(c, home) }), nil
}

// A knownCatalog is a catalog of the config with its stored version.
type knownCatalog struct {
	location string
	*catalog.Catalog
	stored time.Time
	err    error // why there is no usable version
}

// knownCatalogs returns the catalogs of the config, in order, without using the network.
func knownCatalogs() ([]knownCatalog, error) {
	locations, err := configuredCatalogs()
	if err != nil {
		return nil, err
	}
	store := catalog.StoreIn(config.Locate(os.Getenv).Data)
	var all []knownCatalog
	for _, l := range locations {
		k := knownCatalog{location: l}
		k.Catalog, k.stored, k.err = store.Get(l)
		switch {
		case errors.Is(k.err, fs.ErrNotExist):
			k.err = errors.New("not downloaded yet")
		case k.err == nil && k.Expired(time.Now()):
			k.err = &catalog.ExpiredError{Name: k.Name, Expires: k.Expires}
		}
		all = append(all, k)
	}
	return all, nil
}

// currentCatalogs is knownCatalogs, but downloads versions that are missing, expired or
// older than a day. If that fails, it warns and uses the stored version.
func (a *app) currentCatalogs(ctx context.Context) ([]knownCatalog, error) {
	all, err := knownCatalogs()
	if err != nil {
		return nil, err
	}
	for i := range all {
		k := &all[i]
		if k.err == nil && time.Since(k.stored) < 24*time.Hour {
			continue
		}
		fresh, _, err := a.refreshCatalog(ctx, nil, k.location, nil)
		switch {
		case err == nil:
			k.Catalog, k.stored, k.err = fresh, time.Now(), nil
		case k.err == nil:
			report(a.stderr, fmt.Errorf("using the version of %s of the catalog %s: %w", k.stored.Format("2006-01-02"), k.Name, err))
		default:
			report(a.stderr, fmt.Errorf("the catalog %s is not used: %w", printable(k.location), err))
			k.err = err
		}
	}
	return all, nil
}

func newCatalogListCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the catalogs of the config",
		Args:  noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error { return a.listCatalogs(asJSON) })
}

func (a *app) listCatalogs(asJSON bool) error {
	all, err := knownCatalogs()
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
			e := entry{Source: k.location, Catalog: k.Catalog}
			if k.err != nil {
				e.Problem = k.err.Error()
			}
			list = append(list, e)
		}
		return a.printJSON(list)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stdout, "no catalogs; to add one, run: docsearch catalog add SOURCE")
		return nil
	}
	table := newTable(a.stdout, "NAME\tSTATE\tPACKS\tCOUNTER\tEXPIRES\tSOURCE")
	for _, k := range all {
		if k.Catalog == nil {
			fmt.Fprintf(table, "-\t%s\t-\t-\t-\t%s\n", userMessage(k.err), printable(k.location))
			continue
		}
		state := "ok"
		if k.err != nil {
			state = "expired"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\n", k.Name, state, len(k.Packs), k.Counter, k.Expires.Format("2006-01-02"), printable(k.location))
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
	locations, err := configuredCatalogs()
	if err != nil {
		return err
	}
	failed := false
	for _, l := range locations {
		c, _, err := a.refreshCatalog(ctx, nil, l, nil)
		if err != nil {
			failed = true
			report(a.stderr, err)
			continue
		}
		fmt.Fprintf(a.stdout, "%s: %s, counter %d, valid until %s\n", c.Name, count(len(c.Packs), "pack"), c.Counter, c.Expires.Format("2006-01-02"))
	}
	return failureIf(failed)
}

type catalogMakeCommand struct {
	*app
	signingFlags
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
	f.StringVarP(&m.output, "output", "o", "catalog", "write the catalog to `FILE`, an OCI layout DIR:TAG, or oci://REGISTRY/REPOSITORY:TAG")
	f.StringVar(&m.base, "base", "", "set the source of packs that are files to a name below `URL`")
	f.DurationVar(&m.valid, "valid", 90*24*time.Hour, "let the catalog expire after `DURATION`")
	f.Int64Var(&m.counter, "counter", 0, "set the counter to `N` (default: one more than that of the output)")
	f.StringArrayVar(&m.keys, "key", nil, "sign with the private key in `FILE` (repeatable; default: your key)")
	f.StringArrayVar(&m.rotations, "rotation", nil, "include the output of docsearch pack key rotate in `FILE` (repeatable)")
	return cmd
}

func (m *catalogMakeCommand) run(ctx context.Context, name string, packs []string) error {
	keys, rotations, err := m.readKeys()
	if err != nil {
		return err
	}
	c := &catalog.Catalog{Format: catalog.Format, Name: name, Counter: m.counter, Expires: time.Now().Add(m.valid).UTC().Truncate(time.Second)}
	if c.Counter == 0 {
		if c.Counter, err = m.nextCounter(ctx); err != nil {
			return err
		}
	}
	for _, source := range packs {
		e, err := m.entry(ctx, source)
		if err != nil {
			return explainPack(source, err)
		}
		c.Packs = append(c.Packs, e)
	}
	signed, err := catalog.Sign(c, keys, rotations)
	if err != nil {
		return err
	}
	if err := writeOrigin(ctx, m.output, signed, pack.KindCatalog); err != nil {
		return err
	}
	fmt.Fprintf(m.stdout, "wrote %s: %s, counter %d, valid until %s\n", m.output, count(len(c.Packs), "pack"), c.Counter, c.Expires.Format("2006-01-02"))
	return nil
}

// nextCounter returns the counter after that of the catalog that the output replaces.
func (m *catalogMakeCommand) nextCounter(ctx context.Context) (int64, error) {
	_, statErr := os.Stat(m.output)
	_, _, isLayout := layoutOf(m.output)
	if !strings.HasPrefix(m.output, registry.Scheme) && !isLayout && errors.Is(statErr, fs.ErrNotExist) {
		return 1, nil
	}
	origin, err := openOrigin(ctx, m.output, pack.KindCatalog)
	if registry.IsNotFound(err) || errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, withHint(err, "pass --counter N if the output is not a catalog yet")
	}
	defer origin.Close()
	old, _, err := catalog.Read(ctx, origin, func(*pack.Signatures, pack.Subject) error { return nil })
	if err != nil {
		return 0, withHint(explainPack(m.output, err), "pass --counter N if the output is not a catalog yet")
	}
	return old.Counter + 1, nil
}

// entry returns the entry of a pack. Its signature must be valid; the signer's key becomes
// part of the catalog.
func (m *catalogMakeCommand) entry(ctx context.Context, source string) (catalog.Entry, error) {
	head, err := readHead(ctx, source)
	if err != nil {
		return catalog.Entry{}, err
	}
	publisher, err := head.Signatures.Signer(head.Subject())
	if err != nil {
		return catalog.Entry{}, err
	}
	if !library.IsURL(source) && !strings.HasPrefix(source, registry.Scheme) {
		if m.base == "" {
			return catalog.Entry{}, withHint(usagef("readers cannot download the file %s", source), "pass --base URL with the folder in which you publish it")
		}
		source = strings.TrimRight(m.base, "/") + "/" + path.Base(filepath.ToSlash(source))
	}
	return catalog.NewEntry(head, publisher, source), nil
}

func newPackSearchCommand(a *app) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "search WORD",
		Short: "Search the catalogs for packs",
		Args:  oneArgument("a word"),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		return a.searchPacks(cmd.Context(), args[0], asJSON)
	})
}

func (a *app) searchPacks(ctx context.Context, word string, asJSON bool) error {
	all, err := a.currentCatalogs(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return withHint(errors.New("no catalogs in the config"), "run docsearch catalog add SOURCE to add one")
	}
	type match struct {
		Catalog string `json:"catalog"`
		catalog.Entry
	}
	found := []match{}
	for _, k := range all {
		if k.err != nil {
			continue
		}
		for _, e := range k.Search(word) {
			found = append(found, match{k.Name, e})
		}
	}
	if asJSON {
		return a.printJSON(found)
	}
	if len(found) == 0 {
		return fmt.Errorf("no pack for %q in the catalogs", word)
	}
	table := newTable(a.stdout, "NAME\tVERSION\tTITLE\tSIZE\tLICENSE\tPUBLISHER\tCATALOG")
	for _, m := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, printable(m.Version), printable(m.Title), size(m.Size),
			printable(m.License), printable(pack.Key(m.Publisher).Name()), m.Catalog)
	}
	return table.Flush()
}

// findCatalogPack returns the pack of the catalogs that an argument of setup names, or nil.
// A recipe of that name is used only with --recipe.
func (s *setupCommand) findCatalogPack(ctx context.Context, arg string) (*chosenPack, error) {
	if s.useRecipe || isRecipeFile(arg) {
		return nil, nil
	}
	all, err := s.currentCatalogs(ctx)
	if err != nil {
		return nil, err
	}
	name, version := splitVersion(arg)
	for _, k := range all {
		if k.err != nil {
			continue
		}
		e := k.Find(name, version)
		if e == nil {
			continue
		}
		if err := checkNamed(e.Source, k.location); err != nil {
			return nil, fmt.Errorf("the catalog %s names a pack that is not added: %w", k.Name, err)
		}
		fmt.Fprintf(s.stdout, "%s: the pack %s of %s, from the catalog %s\n", arg, strings.TrimSpace(e.Name+" "+printable(e.Version)), printable(pack.Key(e.Publisher).Name()), k.Name)
		if isRecipe(arg) {
			fmt.Fprintf(s.stdout, "%s: to use the recipe instead, pass --recipe\n", arg)
		}
		return &chosenPack{argument: arg, location: e.Source, digest: e.Digest, required: "the catalog " + k.Name, exact: version != "", ask: true}, nil
	}
	return nil, nil
}
