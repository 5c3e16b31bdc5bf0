package project

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Formats:
//
//   - pyproject.toml: https://packaging.python.org/en/latest/specifications/pyproject-toml/
//     and .../dependency-groups/; Poetry's tables, https://python-poetry.org/docs/pyproject/
//   - uv.lock, poetry.lock, pdm.lock: an array of tables "package" with name and version
//   - pylock.toml: https://packaging.python.org/en/latest/specifications/pylock-toml/
//   - Pipfile, Pipfile.lock: https://pipenv.pypa.io/en/latest/pipfile.html
//   - requirements.txt: https://pip.pypa.io/en/stable/reference/requirements-file-format/
var pythonFormats = []format{
	{Python, "pyproject.toml", false, decoded(limitedTOML, (*pyproject).dependencies)},
	{Python, "Pipfile", false, decoded(limitedTOML, (*pipfile).dependencies)},
	{Python, "requirements*.txt", false, readRequirements},
	{Python, "requirements/*.txt", false, readRequirements},
	{Python, "uv.lock", true, readPythonLock},
	{Python, "poetry.lock", true, readPythonLock},
	{Python, "pdm.lock", true, readPythonLock},
	{Python, "pylock.toml", true, readPythonLock},
	{Python, "Pipfile.lock", true, decoded(json.Unmarshal, (*pipfileLock).dependencies)},
	{Tool, ".python-version", false, versionFile("python")},
}

// pythonName returns the normalized form of a name, as in
// https://packaging.python.org/en/latest/specifications/name-normalization/.
func pythonName(name string) string {
	return strings.ToLower(separators.ReplaceAllString(strings.TrimSpace(name), "-"))
}

var (
	separators  = regexp.MustCompile(`[-_.]+`)
	requirement = regexp.MustCompile(`^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#()@]*)\)?`)
	pin         = regexp.MustCompile(`^={2,3}\s*([^,*\s]+)$`)
)

// parseRequirement parses "requests[socks]>=2.8.1,==2.8.* ; python_version < '3'".
func parseRequirement(s string) (Dependency, bool) {
	m := requirement.FindStringSubmatch(s)
	if m == nil {
		return Dependency{}, false
	}
	constraint, _, _ := strings.Cut(m[2], " --") // options such as --hash
	d := Dependency{Name: pythonName(m[1]),
		Constraint: strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(constraint), `\`)), Direct: true}
	if exact := pin.FindStringSubmatch(d.Constraint); exact != nil {
		d.Version = exact[1]
	}
	return d, true
}

type pyproject struct {
	Project struct {
		Dependencies []string            `toml:"dependencies"`
		Optional     map[string][]string `toml:"optional-dependencies"`
		Python       string              `toml:"requires-python"`
	} `toml:"project"`
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		Poetry struct {
			Dependencies map[string]any `toml:"dependencies"`
			Dev          map[string]any `toml:"dev-dependencies"`
			Group        map[string]struct {
				Dependencies map[string]any `toml:"dependencies"`
			} `toml:"group"`
		} `toml:"poetry"`
		PDM struct {
			Dev map[string][]string `toml:"dev-dependencies"`
		} `toml:"pdm"`
		UV struct {
			Dev []string `toml:"dev-dependencies"`
		} `toml:"uv"`
	} `toml:"tool"`
}

func (f *pyproject) dependencies(string) (list []Dependency) {
	lines := append(f.Project.Dependencies, f.Tool.UV.Dev...)
	for _, group := range f.Project.Optional {
		lines = append(lines, group...)
	}
	for _, group := range f.Groups {
		for _, item := range group {
			if s, ok := item.(string); ok { // else an include of another group
				lines = append(lines, s)
			}
		}
	}
	for _, group := range f.Tool.PDM.Dev {
		lines = append(lines, group...)
	}
	for _, line := range lines {
		if d, ok := parseRequirement(line); ok {
			list = append(list, d)
		}
	}
	tables := []map[string]any{f.Tool.Poetry.Dependencies, f.Tool.Poetry.Dev}
	for _, group := range f.Tool.Poetry.Group {
		tables = append(tables, group.Dependencies)
	}
	for _, table := range tables {
		list = append(list, pythonTable(table)...)
	}
	if f.Project.Python != "" {
		list = append(list, Dependency{Ecosystem: Tool, Name: "python", Constraint: f.Project.Python, Direct: true})
	}
	return list
}

// pythonTable reads a table of names with constraints, as Poetry and Pipenv have it.
func pythonTable(table map[string]any) (list []Dependency) {
	for name, v := range table {
		d := Dependency{Name: pythonName(name), Constraint: constraintOf(v), Direct: true}
		if exact := pin.FindStringSubmatch(d.Constraint); exact != nil {
			d.Version = exact[1]
		}
		if d.Name == "python" {
			d.Ecosystem = Tool
		}
		list = append(list, d)
	}
	return list
}

// constraintOf returns a constraint that is a text, or the "version" of a table.
func constraintOf(v any) string {
	if table, ok := v.(map[string]any); ok {
		v = table["version"]
	}
	s, _ := v.(string)
	return s
}

type pipfile struct {
	Packages map[string]any `toml:"packages"`
	Dev      map[string]any `toml:"dev-packages"`
	Requires map[string]any `toml:"requires"`
}

func (f *pipfile) dependencies(string) []Dependency {
	list := append(pythonTable(f.Packages), pythonTable(f.Dev)...)
	if v, ok := f.Requires["python_version"].(string); ok {
		list = append(list, Dependency{Ecosystem: Tool, Name: "python", Version: v, Direct: true})
	}
	return list
}

type pipfileGroup map[string]struct {
	Version string `json:"version"`
}

type pipfileLock struct {
	Default pipfileGroup `json:"default"`
	Develop pipfileGroup `json:"develop"`
}

func (f *pipfileLock) dependencies(string) (list []Dependency) {
	for _, g := range []pipfileGroup{f.Default, f.Develop} {
		for name, p := range g {
			if exact := pin.FindStringSubmatch(p.Version); exact != nil {
				list = append(list, Dependency{Name: pythonName(name), Version: exact[1]})
			}
		}
	}
	return list
}

// readPythonLock reads the tables "package", and "packages" of pylock.toml. The project
// itself is virtual or editable.
func readPythonLock(data []byte, _ string) (list []Dependency, err error) {
	isLocal := regexp.MustCompile(`\b(virtual|editable)\b\s*=`).MatchString
	err = lockTables(data, func(t *lockTable) {
		switch name, version := t.text("name"), t.text("version"); t.name {
		case "package", "packages":
			if name != "" && version != "" && !isLocal(t.values["source"]) {
				list = append(list, Dependency{Name: pythonName(name), Version: version})
			}
		}
	})
	return list, err
}

// readRequirements reads the lines that name a package, not those with options or URLs.
func readRequirements(data []byte, _ string) ([]Dependency, error) {
	var list []Dependency
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", " ")) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || line[0] == '-' || line[0] == '.' ||
			strings.Contains(line, "://") && !strings.Contains(line, " @ ") {
			continue
		}
		if d, ok := parseRequirement(line); ok {
			list = append(list, d)
		}
	}
	return list, nil
}
