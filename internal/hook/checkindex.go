package hook

import (
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
)

// CheckIndex reports whether a database has an index, whole as far as that
// shows from outside: the manifest is read, and every file is there in its
// size. It returns the version that the database documents, "" if it is not
// known. Errors: one that wraps generation.ErrNoIndex, *container.CorruptError,
// *container.VersionError.
func CheckIndex(db *config.Database) (version string, err error) {
	err = generation.Load(Folder(db.Path), func(g generation.Generation) error {
		version = g.VersionOr(db.Version)
		for _, f := range g.Files {
			st, err := g.File(f.Name).Lstat()
			if err != nil {
				return err
			}
			if !st.Mode().IsRegular() || st.Size() != f.Size {
				return &container.CorruptError{File: g.Path(f.Name), Offset: min(st.Size(), f.Size), Problem: "the file was truncated or extended"}
			}
		}
		return nil
	})
	return version, err
}

// Folder is that of the database that a config's path means: the path itself,
// or what holds it where it is one of a database's own files, or LEANN's name
// of an index, which is its files' common prefix.
func Folder(path string) string {
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return path
	}
	if err != nil {
		if _, err := os.Stat(path + ".meta.json"); err != nil {
			return path
		}
	}
	return config.Dir(path)
}
