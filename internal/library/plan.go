package library

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
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/usererror"
)

// PlanInstalled plans a database of installed documentation. It reads the
// documentation's folder with that documentation's file filters, unless flags
// replace them.
func (b *Builder) PlanInstalled(d installed.Documentation) (Plan, error) {
	if b.Name == "" {
		b.Name = d.Name[strings.LastIndexAny(d.Name, ":/")+1:]
	}
	if !b.Set("include") {
		b.Options.Include = d.Include
	}
	if !b.Set("exclude") {
		b.Options.Exclude = d.Exclude
	}
	b.preset("include", "exclude")
	locations := config.Locate(os.Getenv)
	databases, err := List(locations)
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	if kind := ingest.ExtractedKind(d.Folder); kind != "" {
		p, err = b.planCopy(locations, databases, kind, d.Folder)
	} else {
		p, err = b.PlanFolder(locations, databases, d.Folder)
	}
	p.installed = d
	return p, err
}

// A Plan describes a build before it runs.
type Plan struct {
	Dir        string // database folder
	Label      string // name in messages
	Configured bool   // listed in the config
	Source     index.Source
	Options    Options
	warning    error                 // warning to print before the build; nil: none
	Lost       *generation.LostError // why an update kept the previous index; nil: it did not

	installed installed.Documentation // zero: the source is not installed documentation

	Embedder *chosenEmbedder // in addition to the builtin one; nil: none
}

// Documents returns the version and the packages for the config entry of a database of
// installed documentation. The version is "" if it is unknown or if the build detected one.
func (p Plan) Documents() (version string, packages []string) {
	if p.installed.Package != "" {
		packages = []string{p.installed.Package}
	}
	if g, err := generation.Current(p.Dir); err != nil || g.Manifest.Edition != nil {
		return "", packages
	}
	return p.installed.Version, packages
}

// Site returns the plan's source if it is a site, otherwise nil.
func (p Plan) Site() *ingest.Site {
	s, _ := p.Source.(*ingest.Site)
	return s
}

// Plan resolves arg: a LEANN index, an existing database to rebuild, or a
// source for a new database.
func (b *Builder) Plan(arg string) (Plan, error) {
	locations := config.Locate(os.Getenv)
	all, err := List(locations)
	if err != nil {
		return Plan{}, err
	}
	arg = CanonicalSource(all, arg)
	if b.Kind != "" {
		return b.planForced(locations, all, arg)
	}
	switch kind := ingest.ExtractedKind(arg); {
	case kind == ingest.KindGit, kind != "" && IsURL(arg):
		return b.planCopy(locations, all, kind, arg)
	case IsURL(arg):
		return b.planSite(locations, all, arg)
	}
	// An existing source has precedence over a database of that name, which may
	// have been built from another folder with the same name.
	path := arg
	if _, err := os.Stat(arg); err == nil && !IsPath(arg) {
		path = "." + string(filepath.Separator) + arg
	}
	known, err := Find(all, path, b.Elsewhere)
	if unknown, ok := errors.AsType[*NotFoundError](err); ok {
		err = fmt.Errorf("source %q not found: no folder, file, or database has this name", arg)
		if unknown.Suggestion != "" {
			err = usererror.WithHint(err, "did you mean %q?", unknown.Suggestion)
		}
	}
	if err != nil {
		return Plan{}, err
	}
	dir, err := index.Locate(known.Path)
	if errors.Is(err, leann.ErrNotLEANN) {
		if kind := ingest.ExtractedKind(known.Path); kind != "" {
			return b.planCopy(locations, all, kind, known.Path)
		}
		return b.PlanFolder(locations, all, known.Path)
	}
	if err != nil {
		return Plan{}, err
	}
	if b.Name != "" || b.Out != "" {
		return Plan{}, usererror.Invalidf("cannot use --name or --out: the index of %s is stored with its passages",
			arg)
	}
	return b.planRebuild(known, dir)
}

// planForced plans a build from a source of the type that --type sets.
func (b *Builder) planForced(l config.Locations, all []Ref, arg string) (Plan, error) {
	switch b.Kind {
	case ingest.KindFolder:
		return b.PlanFolder(l, all, arg)
	case ingest.KindSite:
		if !IsURL(arg) {
			return Plan{}, usererror.Invalidf("invalid site URL %q: want a URL such as https://docs.example.com/guide/",
				arg)
		}
		return b.planSite(l, all, arg)
	case ingest.KindGit:
		if IsURL(arg) && ingest.ExtractedKind(arg) == "" {
			arg = strings.TrimRight(arg, "/") + ".git" // many git hosts also serve the repository under this URL
		}
		return b.planCopy(l, all, b.Kind, arg)
	case ingest.KindArchive, ingest.KindDocset:
		return b.planCopy(l, all, b.Kind, arg)
	case leann.KindIndex:
		known, err := Find(all, arg, b.Elsewhere)
		if err != nil {
			return Plan{}, err
		}
		dir, err := index.Locate(known.Path)
		if err != nil {
			return Plan{}, err
		}
		return b.planRebuild(known, dir)
	}
	return Plan{}, usererror.Invalidf("invalid --type %q: want one of %s", b.Kind, strings.Join(SourceKinds(), ", "))
}

// SourceKinds returns the values of --type.
func SourceKinds() []string {
	return []string{ingest.KindFolder, ingest.KindSite, ingest.KindGit, ingest.KindArchive, ingest.KindDocset,
		leann.KindIndex}
}

// PlanUpdate plans to update a database, or to read and index all its documents if full is
// set.
func (b *Builder) PlanUpdate(known Ref, before index.Info, full bool) (Plan, error) {
	// Another version may parse the same documents differently.
	b.Reuse = !full && before.Tool == b.Tool
	b.IsUpdate, b.KeepLost = true, !full
	p, err := b.planRebuild(known, before.Dir)
	if err != nil && !errors.Is(err, ErrUnverifiedSource) {
		err = fmt.Errorf("%s: %w", known.Name, err)
	}
	return p, err
}

// planRebuild plans to build the database in dir from its recorded source.
func (b *Builder) planRebuild(known Ref, dir string) (p Plan, err error) {
	p = Plan{Dir: dir, Label: known.Name, Configured: known.Configured, Options: b.MergeOptions(dir)}
	switch origin := OriginOf(dir); {
	case origin.Location == "":
	case !origin.Sealed && b.IsUpdate:
		return p, origin.Unverified("cannot update "+known.Name, dir)
	case !origin.Sealed:
		p.warning = origin.Unverified("rebuilding "+known.Name+" from its own passages", dir)
	case origin.Kind == ingest.KindSite:
		site, err := ingest.NewSite(origin.Location, dir, p.Options.Site, p.Options.Options)
		if err != nil {
			return p, err
		}
		p.Source = site
		return p, nil
	case origin.Kind == cluster.KindSource:
		b.Reuse = true
		p.Source, err = p.Options.Cluster.Source()
		return p, err
	case origin.Kind == pack.KindSource:
		b.Reuse = true // unchanged passages are not downloaded again
		p.Source = b.PackUpdate(dir, p.Options.Publisher, origin.Location)
		return p, nil
	default:
		switch source, err := openSource(origin.Origin, dir, p.Options); {
		case err == nil:
			p.Source = source
			return p, nil
		case b.Reuse || !errors.Is(err, fs.ErrNotExist):
			return p, err
		}
		p.warning = fmt.Errorf("source %s not found; rebuilding %s from its own passages", origin.Location, known.Name)
	}
	found, err := p.Options.FindLEANN(known.Path)
	if errors.Is(err, leann.ErrNotLEANN) {
		found, err = p.Options.FindLEANN(dir)
	}
	if _, ok := errors.AsType[*leann.OutsideError](err); ok {
		err = usererror.WithHint(err, "run docsearch index build --trust-paths %s to read them",
			humanize.Argument(known.Path))
	}
	if err != nil {
		return p, err
	}
	p.Source = index.FromLEANN(found)
	return p, nil
}

// PlanFolder plans a database built from a folder.
func (b *Builder) PlanFolder(l config.Locations, all []Ref, path string) (Plan, error) {
	return b.PlanNew(l, all, path, nameFor(path), func(_ string, o Options) (index.Source, error) {
		return ingest.NewFolder(path, o.Options)
	})
}

// planCopy plans a database built from an archive, a repository or a docset.
func (b *Builder) planCopy(l config.Locations, all []Ref, kind, location string) (Plan, error) {
	return b.PlanNew(l, all, location, ingest.ExtractedName(location),
		func(dir string, o Options) (index.Source, error) {
			return openSource(leann.Origin{Kind: kind, Location: location}, dir, o)
		})
}

// planSite plans a database built from a site.
func (b *Builder) planSite(l config.Locations, all []Ref, url string) (Plan, error) {
	return b.PlanNew(l, all, url, ingest.SiteName(url), func(dir string, o Options) (index.Source, error) {
		return ingest.NewSite(url, dir, o.Site, o.Options)
	})
}

// PlanNew plans a database built from the source at a location. open opens the source for
// the database folder and the options.
func (b *Builder) PlanNew(l config.Locations, all []Ref, location, suggested string,
	open func(dir string, o Options) (index.Source, error)) (Plan, error) {
	dir, name, err := b.OutputFolder(l, location, suggested)
	if err != nil {
		return Plan{}, err
	}
	options := b.MergeOptions(dir)
	source, err := open(dir, options)
	if err != nil {
		return Plan{}, err
	}
	if err := b.mayReplace(dir, location, name); err != nil {
		return Plan{}, err
	}
	return Plan{Dir: dir, Label: name, Configured: isConfigured(all, dir), Source: source, Options: options}, nil
}

// OutputFolder returns the folder and name of a new database: the values of the
// flags, otherwise the suggested name in the data folder.
func (b *Builder) OutputFolder(l config.Locations, source, suggested string) (dir, name string, err error) {
	name = cmp.Or(b.Name, suggested)
	if name == "" && b.Out != "" { // a site with an IP address
		name = filepath.Base(b.Out)
	}
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:*?"<>|`) ||
		name != strings.TrimSpace(name) {
		err := usererror.Invalidf("invalid database name %q: want letters and digits", name)
		if name == "" {
			err = usererror.Invalidf("cannot derive a database name from %s", source)
		}
		return "", "", usererror.WithHint(err, "pass --name NAME")
	}
	dir = b.Out
	if dir == "" {
		if l.Data == "" {
			return "", "",
				usererror.WithHint(errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set"), "pass --out DIR")
		}
		dir = filepath.Join(l.Data, name)
	}
	dir, err = filepath.Abs(dir)
	return dir, name, err
}

// isConfigured reports whether the config lists the database in dir.
func isConfigured(all []Ref, dir string) bool {
	return slices.ContainsFunc(all, func(d Ref) bool { return d.Configured && SamePath(d.Path, dir) })
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
func (b *Builder) mayReplace(dir, source, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	switch origin := OriginOf(dir); {
	case onlyBuildFiles(entries) && !IsDatabase(dir):
		return nil // an incomplete first build
	case origin.Location == "":
		return notReplaceable(dir, "--name or --out")
	case !sameSource(origin.Location, source):
		return usererror.WithHint(fmt.Errorf("database %s already exists, built from %s", name, origin.Location),
			"pass --name to use another name, or run docsearch index remove %s", humanize.Argument(name))
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
	return usererror.WithHint(err, "pass %s to use another folder", flags)
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

// MergeOptions returns the options of the last build in dir, overridden by the
// flags of this one.
func (b *Builder) MergeOptions(dir string) Options {
	var options Options
	if g, err := generation.Current(dir); err == nil {
		options = OptionsOf(&g.Manifest, dir)
	}
	given := &b.Options
	flags := b.siteFlags(&options.Site)
	flags["language"] = func() { options.Language = given.Language }
	flags["trust-paths"] = func() { options.TrustPaths = given.TrustPaths }
	flags["embedder"] = func() { options.Embedder = absoluteModel(given.Embedder) }
	flags["include"] = func() { options.Include = given.Include }
	flags["exclude"] = func() { options.Exclude = given.Exclude }
	flags["root"] = func() { options.Root = given.Root } // no flag: a recipe sets it
	flags["no-ignore"] = func() { options.NoIgnore = given.NoIgnore }
	flags["keep-secrets"] = func() { options.KeepSecrets = given.KeepSecrets }
	for flag, apply := range flags {
		if b.Set(flag) {
			apply()
		}
	}
	options.Package = cmp.Or(given.Package, options.Package)
	return options
}

// preset makes the build use its values of these flags as if the command line
// set them.
func (b *Builder) preset(flags ...string) {
	given := b.Set
	b.Set = func(flag string) bool { return slices.Contains(flags, flag) || given(flag) }
}
