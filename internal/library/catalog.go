package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/catalog"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/pack/registry"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// RefreshCatalog downloads a catalog, verifies it, and stores it.
func RefreshCatalog(ctx context.Context, c Dialog, p Asker, location string,
	keys []string) (*catalog.Catalog, pack.Key, error) {
	data := config.Locate(os.Getenv).Data
	if data == "" {
		return nil, "", errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set")
	}
	origin, err := origins.Open(ctx, location, pack.KindCatalog)
	if err != nil {
		return nil, "", err
	}
	defer origin.Close()
	var key pack.Key
	found, raw, err := catalog.Read(ctx, origin, func(s *pack.Signatures, subject pack.Subject) (err error) {
		key, err = Trust(ctx, c, p, s, subject, keys)
		return err
	})
	if err != nil {
		return nil, "", origins.Explain(location, err)
	}
	store := catalog.StoreIn(data)
	if err := store.Check(location, found, raw.Manifest, time.Now()); err != nil {
		return nil, "", usererror.WithHint(err, "ask the publisher %s for a new version", key.Name())
	}
	return found, key, store.Put(location, raw)
}

// ConfiguredCatalogs returns the locations of the catalogs in the config.
func ConfiguredCatalogs() ([]string, error) {
	loaded, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return nil, usererror.WithHint(err, "run docsearch config check to list all problems")
	}
	home := config.Home(os.Getenv)
	return collect(loaded.Config.Catalogs, func(c string) string { return config.Expand(c, home) }), nil
}

// A KnownCatalog is a catalog of the config with its stored version.
type KnownCatalog struct {
	Location string
	*catalog.Catalog
	stored time.Time
	Err    error // why there is no usable version
}

// KnownCatalogs returns the catalogs of the config, in order, without using the network.
func KnownCatalogs() ([]KnownCatalog, error) {
	locations, err := ConfiguredCatalogs()
	if err != nil {
		return nil, err
	}
	store := catalog.StoreIn(config.Locate(os.Getenv).Data)
	var all []KnownCatalog
	for _, l := range locations {
		k := KnownCatalog{Location: l}
		k.Catalog, k.stored, k.Err = store.Get(l)
		switch {
		case errors.Is(k.Err, fs.ErrNotExist):
			k.Err = errors.New("not downloaded yet")
		case k.Err == nil && k.Expired(time.Now()):
			k.Err = &catalog.ExpiredError{Name: k.Name, Expires: k.Expires}
		}
		all = append(all, k)
	}
	return all, nil
}

// CurrentCatalogs is knownCatalogs, but downloads versions that are missing, expired or
// older than a day. If that fails, it warns and uses the stored version.
func CurrentCatalogs(ctx context.Context, c Dialog) ([]KnownCatalog, error) {
	all, err := KnownCatalogs()
	if err != nil {
		return nil, err
	}
	for i := range all {
		k := &all[i]
		if k.Err == nil && time.Since(k.stored) < 24*time.Hour {
			continue
		}
		fresh, _, err := RefreshCatalog(ctx, c, nil, k.Location, nil)
		switch {
		case err == nil:
			k.Catalog, k.stored, k.Err = fresh, time.Now(), nil
		case k.Err == nil:
			c.Report(fmt.Errorf("using the version of %s of the catalog %s: %w", k.stored.Format("2006-01-02"), k.Name,
				err))
		default:
			c.Report(fmt.Errorf("the catalog %s is not used: %w", safetext.Printable(k.Location), err))
			k.Err = err
		}
	}
	return all, nil
}

// NextCounter returns the counter after that of the catalog that the output replaces.
func NextCounter(ctx context.Context, output string) (int64, error) {
	_, statErr := os.Stat(output)
	_, _, isLayout := origins.LayoutOf(output)
	if !strings.HasPrefix(output, registry.Scheme) && !isLayout && errors.Is(statErr, fs.ErrNotExist) {
		return 1, nil
	}
	origin, err := origins.Open(ctx, output, pack.KindCatalog)
	if registry.IsNotFound(err) || errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, usererror.WithHint(err, "pass --counter N if the output is not a catalog yet")
	}
	defer origin.Close()
	old, _, err := catalog.Read(ctx, origin, func(*pack.Signatures, pack.Subject) error { return nil })
	if err != nil {
		return 0, usererror.WithHint(origins.Explain(output, err),
			"pass --counter N if the output is not a catalog yet")
	}
	return old.Counter + 1, nil
}

// CatalogEntry returns the entry of a pack. base is the URL of the folder of packs that are
// files. Its signature must be valid; the signer's key becomes
// part of the catalog.
func CatalogEntry(ctx context.Context, source, base string) (catalog.Entry, error) {
	head, err := origins.ReadHead(ctx, source)
	if err != nil {
		return catalog.Entry{}, err
	}
	publisher, err := head.Signatures.Signer(head.Subject())
	if err != nil {
		return catalog.Entry{}, err
	}
	if !IsURL(source) && !strings.HasPrefix(source, registry.Scheme) {
		if base == "" {
			return catalog.Entry{}, usererror.WithHint(usererror.Invalidf("readers cannot download the file %s",
				source), "pass --base URL with the folder in which you publish it")
		}
		source = strings.TrimRight(base, "/") + "/" + path.Base(filepath.ToSlash(source))
	}
	return catalog.NewEntry(head, publisher, source), nil
}

// FindCatalogPack returns the pack of the catalogs that an argument of setup names, or nil.
// A recipe of that name is used only with --recipe.
func FindCatalogPack(ctx context.Context, c Dialog, w io.Writer, arg string) (*ChosenPack, error) {
	if IsRecipeFile(arg) {
		return nil, nil
	}
	all, err := CurrentCatalogs(ctx, c)
	if err != nil {
		return nil, err
	}
	name, version := SplitVersion(arg)
	for _, k := range all {
		if k.Err != nil {
			continue
		}
		e := k.Find(name, version)
		if e == nil {
			continue
		}
		if err := origins.CheckNamed(e.Source, k.Location); err != nil {
			return nil, fmt.Errorf("the catalog %s names a pack that is not added: %w", k.Name, err)
		}
		fmt.Fprintf(w, "%s: the pack %s of %s, from the catalog %s\n", arg, strings.TrimSpace(e.Name+" "+safetext.Printable(e.Version)), safetext.Printable(pack.Key(e.Publisher).Name()), k.Name)
		if IsRecipe(arg) {
			fmt.Fprintf(w, "%s: to use the recipe instead, pass --recipe\n", arg)
		}
		return &ChosenPack{Argument: arg, Location: e.Source, Digest: e.Digest, Required: "the catalog " + k.Name, Exact: version != "", Ask: true}, nil
	}
	return nil, nil
}
