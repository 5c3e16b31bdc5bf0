package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/pack/origins"
	"github.com/docsearch/docsearch/internal/pack/registry"
)

// CheckOffered returns an error if a server names a file of this machine as a pack, or
// another server on it.
func CheckOffered(location, server string) error {
	if !IsURL(location) && !strings.HasPrefix(location, registry.Scheme) {
		return fmt.Errorf("%q is not the address of a pack", location)
	}
	return origins.CheckNamed(location, server)
}

// RemoveMirrors removes the mirrors that no server lists.
func RemoveMirrors(dir string, keep map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !keep[e.Name()] && e.IsDir() && generation.HasManifest(path) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}
