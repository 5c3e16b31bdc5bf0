package project

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Formats: mix.exs and mix.lock, https://hexdocs.pm/mix/Mix.Tasks.Deps.html;
// pubspec.lock, https://dart.dev/tools/pub/glossary#lockfile.
var (
	elixirFormats = []format{
		{Elixir, "mix.exs", false, matched(mixDependency, constrained)},
		{Elixir, "mix.lock", true, matched(mixLocked, func(m []string) Dependency { return Dependency{Name: m[1], Version: m[2]} })},
	}
	dartFormats = []format{
		{Dart, "pubspec.lock", true, decoded(yaml.Unmarshal, (*pubspecLock).dependencies)},
	}
)

var (
	// mixDependency finds tuples such as {:phoenix, "~> 1.7"} in a build script, which is a
	// program that only Mix can evaluate.
	mixDependency = regexp.MustCompile(`\{\s*:([a-z][a-z0-9_]*)\s*,\s*"([^"]+)"`)
	mixLocked     = regexp.MustCompile(`"[a-z0-9_]+":\s*\{:hex,\s*:([a-z0-9_]+),\s*"([^"]+)"`)
)

type pubspecLock struct {
	Packages map[string]struct {
		Dependency string `yaml:"dependency"` // "direct main", "direct dev", "transitive"
		Source     string `yaml:"source"`
		Version    string `yaml:"version"`
	} `yaml:"packages"`
	SDKs map[string]string `yaml:"sdks"`
}

func (f *pubspecLock) dependencies(string) (list []Dependency) {
	for name, p := range f.Packages {
		if p.Source != "path" {
			list = append(list, Dependency{Name: name, Version: p.Version, Direct: strings.HasPrefix(p.Dependency, "direct")})
		}
	}
	for name, constraint := range f.SDKs {
		list = append(list, Dependency{Ecosystem: Tool, Name: name, Constraint: constraint, Direct: true})
	}
	return list
}
