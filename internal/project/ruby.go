package project

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Formats: Gemfile.lock as Bundler writes it,
// https://bundler.io/guides/rationale.html#checking-your-code-into-version-control;
// composer.json and composer.lock, https://getcomposer.org/doc/04-schema.md.
var (
	rubyFormats = []format{
		{Ruby, "Gemfile.lock", true, readGemfileLock},
		{Tool, ".ruby-version", false, versionFile("ruby")},
	}
	phpFormats = []format{
		{PHP, "composer.json", false, decoded(json.Unmarshal, (*composerManifest).dependencies)},
		{PHP, "composer.lock", true, decoded(json.Unmarshal, (*composerLock).dependencies)},
	}
)

var (
	gemSpec   = regexp.MustCompile(`^    ([A-Za-z0-9._-]+) \(([^)]+)\)$`)
	gemDirect = regexp.MustCompile(`^  ([A-Za-z0-9._-]+)!?(?: \(([^)]*)\))?!?$`)
)

// readGemfileLock reads the sections: specs have an indentation of four, direct
// dependencies of two.
func readGemfileLock(data []byte, _ string) ([]Dependency, error) {
	var list []Dependency
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			section = line
			continue
		}
		switch section {
		case "GEM", "GIT":
			if m := gemSpec.FindStringSubmatch(line); m != nil {
				version, _, _ := strings.Cut(m[2], "-") // a platform follows
				list = append(list, Dependency{Name: m[1], Version: version})
			}
		case "DEPENDENCIES":
			if m := gemDirect.FindStringSubmatch(line); m != nil {
				list = append(list, Dependency{Name: m[1], Constraint: m[2], Direct: true})
			}
		case "RUBY VERSION":
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "ruby "); ok {
				version, _, _ := strings.Cut(v, "p") // the patch level
				list = append(list, toolVersion("ruby", version)...)
			}
		}
	}
	return list, nil
}

type composerManifest struct {
	Require map[string]string `json:"require"`
	Dev     map[string]string `json:"require-dev"`
}

func (f *composerManifest) dependencies(string) (list []Dependency) {
	for _, group := range []map[string]string{f.Require, f.Dev} {
		for name, constraint := range group {
			switch {
			case name == "php":
				list = append(list, Dependency{Ecosystem: Tool, Name: name, Constraint: constraint, Direct: true})
			case strings.Contains(name, "/"): // else an extension of PHP
				list = append(list, Dependency{Name: name, Constraint: constraint, Direct: true})
			}
		}
	}
	return list
}

type composerPackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type composerLock struct {
	Packages []composerPackage `json:"packages"`
	Dev      []composerPackage `json:"packages-dev"`
}

func (f *composerLock) dependencies(string) (list []Dependency) {
	for _, p := range append(f.Packages, f.Dev...) {
		list = append(list, Dependency{Name: p.Name, Version: p.Version})
	}
	return list
}
