package project

import (
	"regexp"
	"slices"
	"strings"
)

// Formats: mix.exs and mix.lock, https://hexdocs.pm/mix/Mix.Tasks.Deps.html;
// pubspec.lock, https://dart.dev/tools/pub/glossary#lockfile.
var (
	elixirFormats = []format{
		{Elixir, "mix.exs", false, matched(mixDependency, constrained)},
		{Elixir, "mix.lock", true, matched(mixLocked,
			func(m []string) Dependency { return Dependency{Name: m[1], Version: m[2]} })},
	}
	dartFormats = []format{
		{Dart, "pubspec.lock", true, readPubspecLock},
	}
)

var (
	// mixDependency finds tuples such as {:phoenix, "~> 1.7"} in a build script, which is a
	// program that only Mix can evaluate.
	mixDependency = regexp.MustCompile(`\{\s*:([a-z][a-z0-9_]*)\s*,\s*"([^"]+)"`)
	mixLocked     = regexp.MustCompile(`"[a-z0-9_]+":\s*\{:hex,\s*:([a-z0-9_]+),\s*"([^"]+)"`)
)

// readPubspecLock reads the packages, except those of the file system, and the SDKs.
func readPubspecLock(data []byte, _ string) (list []Dependency, err error) {
	local := map[string]bool{}
	lockLines(data, func(keys []string, value string) {
		switch {
		case len(keys) == 2 && keys[0] == "packages":
			list = append(list, Dependency{Name: keys[1]})
		case len(keys) == 2 && keys[0] == "sdks":
			list = append(list, Dependency{Ecosystem: Tool, Name: keys[1], Constraint: value, Direct: true})
		case len(keys) == 3 && keys[0] == "packages":
			switch d := &list[len(list)-1]; keys[2] {
			case "version":
				d.Version = value
			case "dependency": // "direct main", "direct dev", "transitive"
				d.Direct = strings.HasPrefix(value, "direct")
			case "source":
				local[d.Name] = value == "path"
			}
		}
	})
	return slices.DeleteFunc(list, func(d Dependency) bool { return d.Ecosystem == "" && local[d.Name] }), nil
}
