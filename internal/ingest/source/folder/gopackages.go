package folder

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// goStandard is the import path of a Go installation's sources.
const goStandard = "std"

// GoPackages returns the import path of a folder that holds the sources of Go packages for
// those who use them: the standard library, or a module in a module cache. It is "" for any
// other folder, such as that of a module under development.
func GoPackages(root *os.Root) string {
	if data, err := root.ReadFile("go.mod"); err == nil {
		dir, err := filepath.Abs(root.Name())
		switch module := modfile.ModulePath(data); {
		case err != nil:
			return ""
		case module == goStandard && isGoRoot(filepath.Dir(dir)):
			return goStandard
		case moduleVersion().MatchString(dir):
			return module
		}
	}
	return ""
}

// ImportPath returns the import path of the package of a file below GoPackages.
func (s Reader) ImportPath(name string) string {
	return strings.TrimPrefix(path.Join(s.GoPackages, path.Dir(name)), goStandard+"/")
}

// moduleVersion matches the folder of a module in a module cache.
var moduleVersion = document.Lazily(`@v[0-9]+\.[0-9]+\.[0-9]+[^@/\\]*$`)

func isGoRoot(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	return err == nil && strings.HasPrefix(string(data), "go")
}
