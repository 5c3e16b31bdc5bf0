package project

import (
	"bytes"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Formats: https://doc.rust-lang.org/cargo/reference/manifest.html,
// https://doc.rust-lang.org/cargo/guide/cargo-toml-vs-cargo-lock.html and
// https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file.
var rustFormats = []format{
	{Rust, "Cargo.toml", false, decoded(toml.Unmarshal, (*cargoManifest).dependencies)},
	{Rust, "Cargo.lock", true, decoded(toml.Unmarshal, (*cargoLock).dependencies)},
	{Tool, "rust-toolchain.toml", false, readRustToolchain},
	{Tool, "rust-toolchain", false, readRustToolchain},
}

type cargoTables struct {
	Dependencies map[string]any `toml:"dependencies"`
	Dev          map[string]any `toml:"dev-dependencies"`
	Build        map[string]any `toml:"build-dependencies"`
}

type cargoManifest struct {
	cargoTables
	Target    map[string]cargoTables `toml:"target"`
	Workspace struct {
		Dependencies map[string]any `toml:"dependencies"`
	} `toml:"workspace"`
}

func (f *cargoManifest) dependencies(string) (list []Dependency) {
	groups := []map[string]any{f.Dependencies, f.Dev, f.Build, f.Workspace.Dependencies}
	for _, t := range f.Target {
		groups = append(groups, t.Dependencies, t.Dev, t.Build)
	}
	for _, group := range groups {
		for name, v := range group {
			if table, ok := v.(map[string]any); ok {
				if _, isPath := table["path"].(string); isPath {
					continue
				}
				if real, ok := table["package"].(string); ok {
					name = real
				}
			}
			list = append(list, Dependency{Name: name, Constraint: constraintOf(v), Direct: true})
		}
	}
	return list
}

type cargoLock struct {
	Package []struct {
		Name         string   `toml:"name"`
		Version      string   `toml:"version"`
		Source       string   `toml:"source"`
		Dependencies []string `toml:"dependencies"`
	} `toml:"package"`
}

// dependencies returns the packages with a source. Those without one are members of the
// workspace: at its root, their dependencies are the direct ones.
func (f *cargoLock) dependencies(within string) (list []Dependency) {
	direct := map[string]bool{}
	for _, p := range f.Package {
		for _, d := range p.Dependencies {
			if p.Source == "" && within == "." {
				direct[d] = true // "serde", or "rand 0.8.5" if there are several versions
			}
		}
	}
	for _, p := range f.Package {
		if p.Source != "" {
			list = append(list, Dependency{Name: p.Name, Version: p.Version, Direct: direct[p.Name] || direct[p.Name+" "+p.Version]})
		}
	}
	return list
}

// readRustToolchain reads a channel such as 1.75.0. "stable" is not a version.
func readRustToolchain(data []byte, _ string) ([]Dependency, error) {
	channel := string(bytes.TrimSpace(data))
	if strings.Contains(channel, "[toolchain]") {
		var f struct {
			Toolchain struct {
				Channel string `toml:"channel"`
			} `toml:"toolchain"`
		}
		if err := toml.Unmarshal(data, &f); err != nil {
			return nil, err
		}
		channel = f.Toolchain.Channel
	}
	return toolVersion("rust", channel), nil
}
