// Package configtest makes projects for tests.
package configtest

import (
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
)

// Project returns a project that uses this software.
func Project(t testing.TB, uses ...config.Use) *config.Project {
	t.Helper()
	dir := t.TempDir()
	l := config.Locations{Cache: dir, Config: filepath.Join(dir, "config.json")}
	if err := (&config.ProjectSnapshot{Folder: dir, Uses: uses}).Write(l); err != nil {
		t.Fatal(err)
	}
	return config.ProjectAt(l, func(string) string { return "" }, dir)
}
