package project

import (
	"bytes"
	"strings"
)

// Formats: https://doc.rust-lang.org/cargo/reference/manifest.html,
// https://doc.rust-lang.org/cargo/guide/cargo-toml-vs-cargo-lock.html and
// https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file.
var rustFormats = []format{
	{Rust, "Cargo.toml", false, decoded(limitedTOML, (*cargoManifest).dependencies)},
	{Rust, "Cargo.lock", true, readCargoLock},
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

// readCargoLock reads the packages with a source. Those without one are members of the
// workspace: at its root, their dependencies are the direct ones.
func readCargoLock(data []byte, within string) (list []Dependency, err error) {
	direct := map[string]bool{}
	err = lockTables(data, func(t *lockTable) {
		switch {
		case t.name != "package" || t.text("name") == "":
		case t.text("source") != "":
			list = append(list, Dependency{Name: t.text("name"), Version: t.text("version")})
		case within == ".":
			for _, d := range t.texts("dependencies") {
				direct[d] = true // "serde", or "rand 0.8.5" if there are several versions
			}
		}
	})
	for i, p := range list {
		list[i].Direct = direct[p.Name] || direct[p.Name+" "+p.Version]
	}
	return list, err
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
		if err := limitedTOML(data, &f); err != nil {
			return nil, err
		}
		channel = f.Toolchain.Channel
	}
	return toolVersion("rust", channel), nil
}
