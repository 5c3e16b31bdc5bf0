package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
)

// A plan describes a build before it runs.
type plan struct {
	dir        string // database folder
	label      string // name in messages
	configured bool   // listed in the config
	source     index.Source
	options    library.Options
	warning    error                 // warning to print before the build; nil: none
	lost       *generation.LostError // why an update kept the previous index; nil: it did not

	embedder *chosenEmbedder // in addition to the builtin one; nil: none
}

// site returns the plan's source if it is a site, otherwise nil.
func (p plan) site() *ingest.Site {
	s, _ := p.source.(*ingest.Site)
	return s
}

// plan resolves arg: a LEANN index, an existing database to rebuild, or a
// source for a new database.
func (b *buildCommand) plan(arg string) (plan, error) {
	locations := config.Locate(os.Getenv)
	all, err := library.List(locations)
	if err != nil {
		return plan{}, err
	}
	arg = library.CanonicalSource(all, arg)
	if b.kind != "" {
		return b.planForced(locations, all, arg)
	}
	switch kind := ingest.ExtractedKind(arg); {
	case kind == ingest.KindGit, kind != "" && library.IsURL(arg):
		return b.planCopy(locations, all, kind, arg)
	case library.IsURL(arg):
		return b.planSite(locations, all, arg)
	}
	// An existing source has precedence over a database of that name, which may
	// have been built from another folder with the same name.
	path := arg
	if _, err := os.Stat(arg); err == nil && !library.IsPath(arg) {
		path = "." + string(filepath.Separator) + arg
	}
	known, err := findDatabase(all, path)
	if unknown, ok := errors.AsType[*library.NotFoundError](err); ok {
		err = fmt.Errorf("source %q not found: no folder, file, or database has this name", arg)
		if unknown.Suggestion != "" {
			err = withHint(err, "did you mean %q?", unknown.Suggestion)
		}
	}
	if err != nil {
		return plan{}, err
	}
	dir, err := index.Locate(known.Path)
	if errors.Is(err, leann.ErrNotLEANN) {
		if kind := ingest.ExtractedKind(known.Path); kind != "" {
			return b.planCopy(locations, all, kind, known.Path)
		}
		return b.planFolder(locations, all, known.Path)
	}
	if err != nil {
		return plan{}, err
	}
	if b.name != "" || b.out != "" {
		return plan{}, usagef("cannot use --name or --out: the index of %s is stored with its passages", arg)
	}
	return b.planRebuild(known, dir)
}

// planForced plans a build from a source of the type that --type sets.
func (b *buildCommand) planForced(l config.Locations, all []library.Ref, arg string) (plan, error) {
	switch b.kind {
	case ingest.KindFolder:
		return b.planFolder(l, all, arg)
	case ingest.KindSite:
		if !library.IsURL(arg) {
			return plan{}, usagef("invalid site URL %q: want a URL such as https://docs.example.com/guide/", arg)
		}
		return b.planSite(l, all, arg)
	case ingest.KindGit:
		if library.IsURL(arg) && ingest.ExtractedKind(arg) == "" {
			arg = strings.TrimRight(arg, "/") + ".git" // many git hosts also serve the repository under this URL
		}
		return b.planCopy(l, all, b.kind, arg)
	case ingest.KindArchive, ingest.KindDocset:
		return b.planCopy(l, all, b.kind, arg)
	case leann.KindIndex:
		known, err := findDatabase(all, arg)
		if err != nil {
			return plan{}, err
		}
		dir, err := index.Locate(known.Path)
		if err != nil {
			return plan{}, err
		}
		return b.planRebuild(known, dir)
	}
	return plan{}, usagef("invalid --type %q: want one of %s", b.kind, strings.Join(sourceKinds(), ", "))
}

// sourceKinds returns the values of --type.
func sourceKinds() []string {
	return []string{ingest.KindFolder, ingest.KindSite, ingest.KindGit, ingest.KindArchive, ingest.KindDocset, leann.KindIndex}
}

// planRebuild plans to build the database in dir from its recorded source.
func (b *buildCommand) planRebuild(known library.Ref, dir string) (p plan, err error) {
	p = plan{dir: dir, label: known.Name, configured: known.Configured, options: b.mergeOptions(dir)}
	switch origin := library.OriginOf(dir); {
	case origin.Location == "":
	case !origin.Sealed && b.isUpdate:
		return p, origin.Unverified("cannot update "+known.Name, dir)
	case !origin.Sealed:
		p.warning = origin.Unverified("rebuilding "+known.Name+" from its own passages", dir)
	case origin.Kind == ingest.KindSite:
		site, err := ingest.NewSite(origin.Location, dir, p.options.Site, p.options.Options)
		if err != nil {
			return p, err
		}
		p.source = site
		return p, nil
	case origin.Kind == cluster.KindSource:
		b.reuse = true
		p.source, err = p.options.Cluster.Source()
		return p, err
	case origin.Kind == pack.KindSource:
		b.reuse = true // unchanged passages are not downloaded again
		p.source = b.packUpdate(dir, p.options.Publisher, origin.Location)
		return p, nil
	default:
		switch source, err := library.OpenSource(origin.Origin, dir, p.options); {
		case err == nil:
			p.source = source
			return p, nil
		case b.reuse || !errors.Is(err, fs.ErrNotExist):
			return p, err
		}
		p.warning = fmt.Errorf("source %s not found; rebuilding %s from its own passages", origin.Location, known.Name)
	}
	found, err := p.options.FindLEANN(known.Path)
	if errors.Is(err, leann.ErrNotLEANN) {
		found, err = p.options.FindLEANN(dir)
	}
	if _, ok := errors.AsType[*leann.OutsideError](err); ok {
		err = withHint(err, "run docsearch index build --trust-paths %s to read them", quoteArgument(known.Path))
	}
	if err != nil {
		return p, err
	}
	p.source = index.FromLEANN(found)
	return p, nil
}

// planFolder plans a database built from a folder.
func (b *buildCommand) planFolder(l config.Locations, all []library.Ref, path string) (plan, error) {
	return b.planNew(l, all, path, nameFor(path), func(_ string, o library.Options) (index.Source, error) {
		return ingest.NewFolder(path, o.Options)
	})
}

// planCopy plans a database built from an archive, a repository or a docset.
func (b *buildCommand) planCopy(l config.Locations, all []library.Ref, kind, location string) (plan, error) {
	return b.planNew(l, all, location, ingest.ExtractedName(location), func(dir string, o library.Options) (index.Source, error) {
		return library.OpenSource(leann.Origin{Kind: kind, Location: location}, dir, o)
	})
}

// planSite plans a database built from a site.
func (b *buildCommand) planSite(l config.Locations, all []library.Ref, url string) (plan, error) {
	return b.planNew(l, all, url, ingest.SiteName(url), func(dir string, o library.Options) (index.Source, error) {
		return ingest.NewSite(url, dir, o.Site, o.Options)
	})
}

// planNew plans a database built from the source at a location. open opens the source for
// the database folder and the options.
func (b *buildCommand) planNew(l config.Locations, all []library.Ref, location, suggested string, open func(dir string, o library.Options) (index.Source, error)) (plan, error) {
	dir, name, err := b.outputFolder(l, location, suggested)
	if err != nil {
		return plan{}, err
	}
	options := b.mergeOptions(dir)
	source, err := open(dir, options)
	if err != nil {
		return plan{}, err
	}
	if err := b.mayReplace(dir, location, name); err != nil {
		return plan{}, err
	}
	return plan{dir: dir, label: name, configured: isConfigured(all, dir), source: source, options: options}, nil
}

// outputFolder returns the folder and name of a new database: the values of the
// flags, otherwise the suggested name in the data folder.
func (b *buildCommand) outputFolder(l config.Locations, source, suggested string) (dir, name string, err error) {
	name = cmp.Or(b.name, suggested)
	if name == "" && b.out != "" { // a site with an IP address
		name = filepath.Base(b.out)
	}
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:*?"<>|`) || name != strings.TrimSpace(name) {
		err := usagef("invalid database name %q: want letters and digits", name)
		if name == "" {
			err = usagef("cannot derive a database name from %s", source)
		}
		return "", "", withHint(err, "pass --name NAME")
	}
	dir = b.out
	if dir == "" {
		if l.Data == "" {
			return "", "", withHint(errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set"), "pass --out DIR")
		}
		dir = filepath.Join(l.Data, name)
	}
	dir, err = filepath.Abs(dir)
	return dir, name, err
}

// isConfigured reports whether the config lists the database in dir.
func isConfigured(all []library.Ref, dir string) bool {
	return slices.ContainsFunc(all, func(d library.Ref) bool { return d.Configured && library.SamePath(d.Path, dir) })
}

// nameFor returns a database name for a folder or file.
func nameFor(path string) string {
	base := filepath.Base(path)
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return base
}

// mayReplace returns an error unless dir is empty or contains a database built
// from the same source.
func (b *buildCommand) mayReplace(dir, source, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	switch origin := library.OriginOf(dir); {
	case onlyBuildFiles(entries) && !library.IsDatabase(dir):
		return nil // an incomplete first build
	case origin.Location == "":
		return notReplaceable(dir, "--name or --out")
	case !library.SameSource(origin.Location, source):
		return withHint(fmt.Errorf("database %s already exists, built from %s", name, origin.Location),
			"pass --name to use another name, or run docsearch index remove %s", quoteArgument(name))
	}
	return nil
}

// notReplaceable returns the error for a folder that is not empty and whose database, if
// it has one, names no source.
func notReplaceable(dir, flags string) error {
	err := fmt.Errorf("cannot use %s: not empty and not a docsearch database", dir)
	if _, reason := index.Inspect(dir); errors.Is(reason, fs.ErrPermission) || errors.Is(reason, syscall.EIO) {
		err = reason // it may be one
	}
	return withHint(err, "pass %s to use another folder", flags)
}

// onlyBuildFiles reports whether a folder contains only files that an
// incomplete first build leaves behind.
func onlyBuildFiles(entries []fs.DirEntry) bool {
	for _, e := range entries {
		if n := e.Name(); n != generation.Folder && n != ingest.MirrorName && !leann.IsPublished(n) {
			return false
		}
	}
	return true
}
