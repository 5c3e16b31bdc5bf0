package project

import (
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Formats: https://go.dev/ref/mod#go-mod-file, #go-sum-files, #workspaces.
var goFormats = []format{
	{Go, "go.mod", false, readGoMod},
	{Go, "go.sum", true, readGoSum},
	{Go, "go.work", true, readGoWork},
}

func readGoMod(data []byte, _ string) ([]Dependency, error) {
	f, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	// ParseLax ignores replacements, because those of a dependency do not count.
	if strict, err := modfile.Parse("go.mod", data, nil); err == nil {
		f = strict
	}
	replaced := map[module.Version]module.Version{}
	for _, with := range f.Replace {
		replaced[with.Old] = with.New
	}
	var list []Dependency
	for _, r := range f.Require {
		d := Dependency{Name: r.Mod.Path, Version: r.Mod.Version, Direct: !r.Indirect}
		with, ok := replaced[r.Mod]
		if !ok {
			with, ok = replaced[module.Version{Path: r.Mod.Path}] // in all versions
		}
		if ok {
			d.Name, d.Version = with.Path, with.Version
		}
		if !modfile.IsDirectoryPath(d.Name) {
			list = append(list, d)
		}
	}
	return append(list, goTool(f.Go, f.Toolchain)...), nil
}

// goTool returns the version of Go itself: that of the toolchain, else of the language.
func goTool(language *modfile.Go, toolchain *modfile.Toolchain) []Dependency {
	version := ""
	if language != nil {
		version = language.Version
	}
	if toolchain != nil {
		if v, ok := strings.CutPrefix(toolchain.Name, "go"); ok {
			version = v
		}
	}
	if version == "" {
		return nil
	}
	return []Dependency{{Ecosystem: Tool, Name: "go", Version: version, Direct: true}}
}

// readGoSum reads the modules whose contents go.sum verifies. Lines of go.mod files are
// also of versions that are not used.
func readGoSum(data []byte, _ string) ([]Dependency, error) {
	highest := map[string]Dependency{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && semver.IsValid(fields[1]) && semver.Compare(fields[1], highest[fields[0]].Version) > 0 {
			highest[fields[0]] = Dependency{Name: fields[0], Version: fields[1], Sum: fields[2]}
		}
	}
	var list []Dependency
	for _, d := range highest {
		list = append(list, d)
	}
	return list, nil
}

// readGoWork reads the version of Go. The requirements of a workspace's modules are in
// their own files.
func readGoWork(data []byte, _ string) ([]Dependency, error) {
	f, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil, err
	}
	return goTool(f.Go, f.Toolchain), nil
}
