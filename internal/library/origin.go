package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/gitrepo"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/provenance"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// An origin is the source that a database claims to be built from. It is zero
// if docsearch did not create the passages.
type origin struct {
	leann.Origin
	Sealed bool // authenticated as recorded by a build of this user, who may therefore read it
}

// OriginOf returns the origin of the database in dir, from the manifest or, if
// that is damaged, from LEANN's meta file.
func OriginOf(dir string) origin {
	key := provenance.Load(config.KeyPath(os.Getenv))
	if g, err := generation.Current(dir); err == nil && makesPassages(g.Source.Kind) {
		return origin{leann.Origin{Kind: g.Source.Kind, Location: g.Source.Location}, isSealed(key, &g.Manifest)}
	}
	if found, err := leann.Find(dir); err == nil && found.Meta.Origin != nil && makesPassages(found.Meta.Origin.Kind) {
		o := *found.Meta.Origin
		return origin{o, key.Sealed(provenance.Source{Kind: o.Kind, Location: o.Location}, o.Seal)}
	}
	return origin{}
}

// MayRead reports whether an update may read the source of the database in dir.
func MayRead(dir string) bool {
	o := OriginOf(dir)
	return o.Sealed || o.Location == ""
}

// makesPassages reports whether docsearch creates the passages of sources
// of that kind.
func makesPassages(kind string) bool {
	return kind == ingest.KindFolder || kind == ingest.KindSite || kind == pack.KindSource ||
		kind == cluster.KindSource || ingest.IsExtracted(kind)
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

// ErrUnverifiedSource is wrapped by errors about a source that is not sealed.
var ErrUnverifiedSource = errors.New("no build on this machine by this user recorded its source")

// FindLEANN finds the LEANN files of a database. It accepts passages outside
// the database folder only if the user's own build allowed that.
func FindLEANN(info index.Info) (*leann.Index, error) {
	options := OptionsOf(&info.Manifest, info.Dir)
	return options.FindLEANN(info.Dir)
}

// Unverified returns the error for a source that is not read because it is not
// sealed. The message starts with subject.
func (o origin) Unverified(subject, dir string) error {
	return usererror.WithHint(fmt.Errorf("%s: %w, %s", subject, ErrUnverifiedSource, safetext.Printable(o.Location)),
		"run %s to read that source from now on", o.command(dir))
}

// command returns the command that builds the database from its source. By
// running it, the user confirms the source.
func (o origin) command(dir string) string {
	if o.Kind == cluster.KindSource {
		return "docsearch cluster pull NAME --from URL"
	}
	location := "--out " + humanize.Argument(dir)
	if data := config.Locate(os.Getenv).Data; data != "" && SamePath(filepath.Dir(dir), data) {
		location = "--name " + humanize.Argument(filepath.Base(dir))
	}
	return "docsearch index build " + humanize.Argument(safetext.Printable(o.Location)) + " " + location
}

// CanonicalSource returns the URL that a source argument means: that of a bare
// repository, or of a site without "https://". Other files, folders and databases have
// precedence.
func CanonicalSource(all []Ref, arg string) string {
	if u, ok := gitrepo.FromBare(arg); ok {
		return u
	}
	if u, ok := ingest.WithScheme(arg); ok {
		if _, err := Find(all, arg, nil); err != nil {
			return u
		}
	}
	return arg
}

// openSource opens the file source that a database was built from.
func openSource(origin leann.Origin, dir string, opt Options) (index.Source, error) {
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
