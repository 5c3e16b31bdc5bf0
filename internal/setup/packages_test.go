package setup

import (
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/project"
)

func TestPackageKeywords(t *testing.T) {
	for _, tt := range []struct {
		id, modules, want string
	}{
		{"go:github.com/spf13/cobra", "", "cobra|github.com/spf13/cobra|spf13/cobra|golang cobra"},
		{"go:github.com/redis/go-redis/v9", "", "go-redis|redis|github.com/redis/go-redis/v9|redis/go-redis|golang redis"},
		{"go:golang.org/x/text", "", "golang.org/x/text|x/text|golang text"},
		{"go:gopkg.in/yaml.v3", "", "gopkg.in/yaml.v3|golang yaml"},
		{"node:react", "", "react|reactjs|react.js"},
		{"node:@tanstack/query-core", "", "query-core|@tanstack/query-core|tanstack query-core"},
		{"node:@babel/core", "", "@babel/core|babel core"},
		{"node:chalk", "", "chalk"},
		{"python:pyyaml", "yaml _yaml", "pyyaml|_yaml"},
		{"python:beautifulsoup4", "bs4", "beautifulsoup4|bs4"},
		{"rust:serde", "", "serde"},
	} {
		ecosystem, name, _ := strings.Cut(tt.id, ":")
		got := PackageKeywords(&project.Dependency{Ecosystem: ecosystem, Name: name}, strings.Fields(tt.modules))
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q, want %q", tt.id, strings.Join(got, "|"), tt.want)
		}
	}
}
