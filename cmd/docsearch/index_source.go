package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/provenance"
)

// An origin is the source that a database claims to be built from. It is zero
// if docsearch did not create the passages.
type origin struct {
	leann.Origin
	sealed bool // authenticated as recorded by a build of this user, who may therefore read it
}

// originOf returns the origin of the database in dir, from the manifest or, if
// that is damaged, from LEANN's meta file.
func originOf(dir string) origin {
	key := provenance.Load(config.KeyPath(os.Getenv))
	if g, err := generation.Current(dir); err == nil && isDocsearchSource(g.Source.Kind) {
		return origin{leann.Origin{Kind: g.Source.Kind, Location: g.Source.Location}, isSealed(key, &g.Manifest)}
	}
	if found, err := leann.Find(dir); err == nil && found.Meta.Origin != nil && isDocsearchSource(found.Meta.Origin.Kind) {
		o := *found.Meta.Origin
		return origin{o, key.Sealed(provenance.Source{Kind: o.Kind, Location: o.Location}, o.Seal)}
	}
	return origin{}
}

// mayRead reports whether an update may read the source of the database in dir.
func mayRead(dir string) bool {
	o := originOf(dir)
	return o.sealed || o.Location == ""
}

// isDocsearchSource reports whether docsearch creates the passages of sources
// of that kind.
func isDocsearchSource(kind string) bool {
	return kind == ingest.KindFolder || kind == ingest.KindSite || kind == pack.KindSource || kind == cluster.KindSource || ingest.IsExtracted(kind)
}

// isSealed reports whether the seal authenticates the manifest's source and
// options as those of a build by this user.
func isSealed(key provenance.Key, m *generation.Manifest) bool {
	return key.Sealed(provenance.Source{Kind: m.Source.Kind, Location: m.Source.Location, Options: m.Options}, m.Seal)
}

// isOwn reports whether this user built the database, so that docsearch may
// access the files outside its folder that the database names.
func isOwn(info index.Info) bool {
	return isSealed(provenance.Load(config.KeyPath(os.Getenv)), &info.Manifest)
}

// errUnverifiedSource is wrapped by errors about a source that is not sealed.
var errUnverifiedSource = errors.New("no build on this machine by this user recorded its source")

// findLEANN finds the LEANN files of a database. It accepts passages outside
// the database folder only if the user's own build allowed that.
func findLEANN(info index.Info) (*leann.Index, error) {
	options := savedOptionsOf(&info.Manifest, info.Dir)
	return options.findLEANN(info.Dir)
}

// findLEANN finds LEANN files, also outside of their folder if the options allow that.
func (o *savedOptions) findLEANN(path string) (*leann.Index, error) {
	if o.TrustPaths {
		return leann.FindTrusted(path)
	}
	return leann.Find(path)
}

// unverified returns the error for a source that is not read because it is not
// sealed. The message starts with subject.
func (o origin) unverified(subject, dir string) error {
	return withHint(fmt.Errorf("%s: %w, %s", subject, errUnverifiedSource, printable(o.Location)), "run %s to read that source from now on", o.command(dir))
}

// command returns the command that builds the database from its source. By
// running it, the user confirms the source.
func (o origin) command(dir string) string {
	if o.Kind == cluster.KindSource {
		return "docsearch index pull NAME --from URL"
	}
	location := "--out " + quoteArgument(dir)
	if data := config.Locate(os.Getenv).Data; data != "" && samePath(filepath.Dir(dir), data) {
		location = "--name " + quoteArgument(filepath.Base(dir))
	}
	return "docsearch index build " + quoteArgument(printable(o.Location)) + " " + location
}

// mergeOptions returns the options of the last build in dir, overridden by the
// flags of this one.
func (b *buildCommand) mergeOptions(dir string) savedOptions {
	var options savedOptions
	if g, err := generation.Current(dir); err == nil {
		options = savedOptionsOf(&g.Manifest, dir)
	}
	given := &b.options
	flags := b.siteFlags(&options.Site)
	flags["language"] = func() { options.Language = given.Language }
	flags["trust-paths"] = func() { options.TrustPaths = given.TrustPaths }
	flags["embedder"] = func() { options.Embedder = absoluteModel(given.Embedder) }
	flags["include"] = func() { options.Include = given.Include }
	flags["exclude"] = func() { options.Exclude = given.Exclude }
	flags["no-ignore"] = func() { options.NoIgnore = given.NoIgnore }
	flags["keep-secrets"] = func() { options.KeepSecrets = given.KeepSecrets }
	for flag, apply := range flags {
		if b.set(flag) {
			apply()
		}
	}
	options.Package = cmp.Or(given.Package, options.Package)
	return options
}

// preset makes the build use its values of these flags as if the command line
// set them.
func (b *buildCommand) preset(flags ...string) {
	given := b.set
	b.set = func(flag string) bool { return slices.Contains(flags, flag) || given(flag) }
}

// savedOptionsOf returns the options in the manifest of the database in dir.
// For a database of another user, it keeps only the language and the file
// filters.
func savedOptionsOf(m *generation.Manifest, dir string) savedOptions {
	var options savedOptions
	if json.Unmarshal(m.Options, &options) != nil {
		return savedOptions{}
	}
	if !isSealed(provenance.Load(config.KeyPath(os.Getenv)), m) {
		reduced := savedOptions{Language: options.Language}
		reduced.Include, reduced.Exclude = options.Include, options.Exclude
		return reduced
	}
	// The seal does not cover LEANN's meta file, which contains the passages path.
	// It must be the file that the user trusted.
	options.TrustPaths = options.TrustPaths && (samePath(m.Source.Location, dir) || samePath(filepath.Dir(m.Source.Location), dir))
	return options
}

// canonicalSource returns the URL that a source argument means: that of a bare
// repository, or of a site without "https://". Other files, folders and databases have
// precedence.
func canonicalSource(all []databaseRef, arg string) string {
	if u, ok := gitrepo.FromBare(arg); ok {
		return u
	}
	if u, ok := ingest.WithScheme(arg); ok {
		if _, err := findHere(all, arg); err != nil {
			return u
		}
	}
	return arg
}

// openSource opens the file source that a database was built from.
func openSource(origin leann.Origin, dir string, opt savedOptions) (index.Source, error) {
	if !ingest.IsExtracted(origin.Kind) {
		return ingest.NewFolder(origin.Location, opt.Options)
	}
	source, err := ingest.NewExtracted(origin.Kind, origin.Location, dir, opt.Options)
	if err == nil && opt.Site.Private {
		source.AllowPrivate()
	}
	return source, err
}

// isDownload reports whether a source is a file at a URL.
func isDownload(source index.Source) bool {
	extracted, ok := source.(*ingest.Extracted)
	return ok && extracted.IsDownload()
}
