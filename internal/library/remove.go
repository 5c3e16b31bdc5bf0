package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/provenance"
)

// cleanUp removes the leftovers of killed builds of a database, including those
// of a first build that never finished.
func cleanUp(dir string) {
	unfinished := IsIncomplete(dir)
	generation.Tidy(dir, func(first bool) {
		switch {
		case !first:
			index.Republish(dir, provenance.Load(config.KeyPath(os.Getenv)))
			ingest.CleanExtracted(dir)
		case unfinished:
			leann.Unpublish(dir)
			ingest.RemoveExtracted(dir)
		}
	})
	if unfinished {
		os.Remove(dir) // fails if the folder keeps downloaded pages for the next build
	}
}

// CleanUpEach calls cleanUp for each database.
func CleanUpEach(all []Ref) {
	for _, d := range all {
		if dir, err := index.Locate(d.Path); err == nil {
			cleanUp(dir)
		}
	}
}

// CleanUpDataFolder calls cleanUp for each folder in the data folder that
// contains only an incomplete first build.
func CleanUpDataFolder(l config.Locations) {
	entries, _ := os.ReadDir(l.Data)
	for _, e := range entries {
		if dir := filepath.Join(l.Data, e.Name()); e.IsDir() && IsIncomplete(dir) {
			cleanUp(dir)
		}
	}
}

// HasMirror reports whether a folder contains downloaded pages of a database.
func HasMirror(dir string) bool {
	_, err := site.Open(filepath.Join(dir, ingest.MirrorName))
	return err == nil
}

// RemoveFiles removes docsearch's files in dir, and the passages if docsearch
// made them.
func RemoveFiles(dir string, ownsPassages bool) error {
	copied := ingest.IsExtracted(OriginOf(dir).Kind) || IsIncomplete(dir)
	if err := generation.Remove(dir); err != nil && !(ownsPassages && errors.Is(err, generation.ErrNoIndex)) {
		if errors.Is(err, generation.ErrNoIndex) {
			return fmt.Errorf("cannot remove the index: %w", err)
		}
		return err
	}
	if err := site.Remove(filepath.Join(dir, ingest.MirrorName)); err != nil {
		return err
	}
	if copied {
		if err := ingest.RemoveExtracted(dir); err != nil {
			return err
		}
	}
	if ownsPassages {
		if err := leann.Unpublish(dir); err != nil {
			return err
		}
	}
	os.Remove(dir) // fails if the folder contains other files
	return nil
}
