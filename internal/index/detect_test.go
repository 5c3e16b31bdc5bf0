package index

import (
	"testing"

	"github.com/docsearch/docsearch/internal/index/generation"
)

func TestPartialOf(t *testing.T) {
	for _, tt := range []struct {
		name     string
		keys     []string
		sections int // of each document
		want     generation.Partial
	}{
		{"a short README", []string{"README.md"}, 1, generation.OnlyReadme},
		{"with change logs", []string{"pkg/readme", `pkg\\CHANGELOG.Debian.gz`}, 1, generation.OnlyReadme},
		{"a README with sections", []string{"README.md"}, 2, ""},
		{"change logs", []string{"CHANGELOG.md", "doc/NEWS", "releases.rst"}, 90, generation.OnlyChanges},
		{"a page beside them", []string{"CHANGELOG.md", "doc/usage.md"}, 2, ""},
		{"no documents", nil, 0, ""},
	} {
		got, err := partialOf(tt.keys, func(uint32) (int, error) { return tt.sections, nil })
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}
