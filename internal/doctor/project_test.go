package doctor

import (
	"slices"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/project"
)

func TestDatabasesOf(t *testing.T) {
	p := &project.Project{Dependencies: []project.Dependency{
		{Ecosystem: "go", Name: "example.com/a", Version: "1.2.3", Direct: true},
		{Ecosystem: "npm", Name: "b", Version: "2.0.0", Direct: true},
		{Ecosystem: "npm", Name: "d", Version: "4.0.0", Direct: true},
		{Ecosystem: "npm", Name: "c", Version: "3.0.0"},
	}}
	databases := []config.Database{
		{Name: "b1", Version: "1.9", Packages: []string{"npm:b"}},
		{Name: "c3", Version: "3.0", Packages: []string{"npm:c"}},
		{Name: "a1", Version: "1.1", Packages: []string{"go:example.com/a"}},
		{Name: "a12", Version: "1.2", Packages: []string{"go:example.com/a"}},
		{Name: "d", Packages: []string{"npm:d"}},
	}
	// b has another major version, and c is not direct.
	if got, want := DatabasesOf(p, databases), []string{"a12", "", "d", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
