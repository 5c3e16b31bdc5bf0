package hook

import (
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
)

// CheckIndex returns an error unless a database has an index that looks valid from
// outside: the manifest can be read, and every file exists with its recorded size. It
// returns the version that the database documents, or "" if it is unknown. Errors: one
// that wraps generation.ErrNoIndex, *container.CorruptError, *container.VersionError.
func CheckIndex(db *config.Database) (version string, err error) {
	err = generation.LoadHead(Folder(db.Path), func(g generation.Generation) error {
		version = g.VersionOr(db.Version)
		for _, f := range g.Files {
			st, err := g.File(f.Name).Lstat()
			if err != nil {
				return err
			}
			if !st.Mode().IsRegular() || st.Size() != f.Size {
				return &container.CorruptError{File: g.Path(f.Name), Offset: min(st.Size(), f.Size),
					Problem: "the file was truncated or extended"}
			}
		}
		return nil
	})
	return version, err
}

// Folder returns the folder of the database at a path from the config. The path is the
// folder itself, one of the database's files, or the common prefix of a LEANN index's
// files.
func Folder(path string) string {
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return path
	}
	if err != nil {
		_, err := os.Stat(path + ".meta.json")
		if err != nil {
			_, err = os.Stat(path + ".leann.meta.json")
		}
		if err != nil {
			return path
		}
	}
	return config.Dir(path)
}

// FolderName returns the name of the folder of a database.
func FolderName(path string) string {
	folder := strings.TrimRight(Folder(path), `/\`)
	return folder[strings.LastIndexAny(folder, `/\`)+1:]
}
