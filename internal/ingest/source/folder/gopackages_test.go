package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// The sources of a module in a module cache and of the standard library are read as
// documentation, those of a module under development as code.
func TestGoPackages(t *testing.T) {
	dir := t.TempDir()
	const module, client = "module example.com/Tea/v2\n", "package pot\n\n// Pour pours.\nfunc Pour() {}\n\nfunc empty() {}\n"
	ingesttest.WriteFiles(t, dir, map[string]string{
		"mod/example.com/!tea/v2@v2.1.0-rc.1/go.mod": module, "mod/example.com/!tea/v2@v2.1.0-rc.1/pot/pot.go": client,
		"src/tea/go.mod": module, "src/tea/pot/pot.go": client,
		"go/VERSION": "go1.26\n", "go/src/go.mod": "module std\n", "go/src/net/pot/pot.go": client,
		"fork/src/go.mod": "module std\n", "fork/src/net/pot/pot.go": client,
		"empty@v1.0.0/pot/pot.go": client,
	})
	for _, tt := range []struct{ root, file, packages, title, heading string }{
		{"mod/example.com/!tea/v2@v2.1.0-rc.1", "pot/pot.go", "example.com/Tea/v2", "example.com/Tea/v2/pot", "Pour"},
		{"go/src", "net/pot/pot.go", "std", "net/pot", "Pour"},
		{"src/tea", "pot/pot.go", "", "pot.go", "func empty"},
		{"fork/src", "net/pot/pot.go", "", "pot.go", "func empty"},
		{"empty@v1.0.0", "pot/pot.go", "", "pot.go", "func empty"},
	} {
		root, err := os.OpenRoot(filepath.Join(dir, tt.root))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		r := Reader{Root: root, GoPackages: GoPackages(root)}
		it := source.Item{Name: tt.file}
		data, err := r.Load(&it)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := r.Parse(t.Context(), data, &it)
		if err != nil {
			t.Fatal(err)
		}
		headings := doc.Sections[len(doc.Sections)-1].Headings
		if last := headings[len(headings)-1]; r.GoPackages != tt.packages || doc.Title != tt.title || last != tt.heading {
			t.Errorf("%s: packages %q, title %q, last heading %q", tt.root, r.GoPackages, doc.Title, last)
		}
	}
}
