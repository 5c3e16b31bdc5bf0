package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/installed"
	"github.com/docsearch/docsearch/internal/project"
	"github.com/docsearch/docsearch/internal/usererror"
)

// IsDatabase reports whether docsearch or LEANN created the folder, even if its
// contents are unreadable.
func IsDatabase(dir string) bool {
	if generation.HasManifest(dir) {
		return true
	}
	_, err := leann.Folder(dir)
	return err == nil && !IsIncomplete(dir)
}

// IsIncomplete reports whether the folder contains only the leftovers of a
// killed first build.
func IsIncomplete(dir string) bool {
	if generation.HasManifest(dir) || !generation.InProgress(dir) {
		return false
	}
	found, err := leann.Find(dir)
	switch {
	case errors.Is(err, leann.ErrNotLEANN):
		return true
	case err != nil:
		return false
	case found.Kind == leann.KindIndex:
		return found.Meta.Origin != nil
	}
	return isBuildOutput(dir, found.Location)
}

// isBuildOutput reports whether a passages file without a meta file is the
// output of an unfinished build of the database in dir, as opposed to a file of
// the user.
func isBuildOutput(dir, passages string) bool {
	shards, err := filepath.Glob(filepath.Join(dir, generation.Folder, "g*", passage.ShardName(0)))
	return err == nil && slices.ContainsFunc(shards, func(shard string) bool { return SamePath(shard, passages) })
}

// Database states, as printed by list.
const (
	StateOK      = "ok"
	StateStale   = "stale"
	StateNoIndex = "no index"
	StateMissing = "missing"
	StateCorrupt = "corrupt"
	stateVersion = "other version"
)

// Inspect opens the database, in constant time, and returns its state. If the
// state is not "ok", why explains it in a sentence.
func Inspect(path string) (info index.Info, state, why string) {
	info, err := index.Inspect(path)
	if err == nil {
		var db *index.Database
		if db, err = index.Open(path); err == nil {
			db.Close()
			if why := Staleness(info); why != "" {
				return info, StateStale, why
			}
			return info, StateOK, ""
		}
	}
	return info, stateForError(err), usererror.Message(err)
}

// Staleness returns why the index is older than its source, or "" if it is
// current or if that is unknown. It does not access the source of a database
// that another user built.
func Staleness(info index.Info) string {
	switch {
	case info.Stale != "" || !isOwn(info):
		return info.Stale
	case info.Source.Kind != ingest.KindFolder:
		return info.StaleOutside()
	case PackageMoved(info), config.Contains(config.Locate(os.Getenv).Projects, info.Dir):
		return "" // other contents of a package get another database
	}
	why, err := ingest.Changed(context.Background(), GenerationOf(info))
	if err != nil {
		return ""
	}
	return why
}

// GenerationOf returns the generation that info describes.
func GenerationOf(info index.Info) generation.Generation {
	return generation.GenerationOf(info.Dir, info.Manifest)
}

func stateForError(err error) string {
	var corrupt *container.CorruptError
	var version *container.VersionError
	switch {
	case errors.As(err, &version):
		return stateVersion
	case errors.As(err, &corrupt):
		return StateCorrupt
	case errors.Is(err, generation.ErrNoIndex):
		return StateNoIndex
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, leann.ErrNotLEANN):
		return StateMissing
	}
	return StateCorrupt
}

// WithRepair adds the repair command as a hint to an error of a database.
func WithRepair(path string, err error) error {
	if command := index.Repair(path, err); command != "" {
		return usererror.WithHint(err, "run %s", command)
	}
	return err
}

// PackageMoved reports whether a database documents a version of a package that is no
// longer at its source: another version is, or none. The database stays as it is, because
// a project may still use that version.
func PackageMoved(info index.Info) bool {
	options := OptionsOf(&info.Manifest, info.Dir)
	if options.Package == "" {
		return false
	}
	at := strings.LastIndexByte(options.Package, '@')
	ecosystem, _, _ := strings.Cut(options.Package, ":")
	if _, err := os.Stat(info.Source.Location); err != nil {
		return true
	}
	switch version := installed.PackageVersion(ecosystem, info.Source.Location); {
	case version != "":
		return version != options.Package[at+1:]
	case ecosystem == project.Python && len(options.Include) > 0: // the metadata has the version in its path
		_, err := os.Stat(filepath.Join(info.Source.Location, filepath.FromSlash(options.Include[0])))
		return err != nil
	}
	return false
}

// HasIndex reports whether the database has a published index.
func HasIndex(path string) bool {
	dir, err := index.Locate(path)
	return err == nil && FileExists(generation.ManifestPath(dir))
}
