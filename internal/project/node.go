package project

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Formats:
//
//   - package.json, package-lock.json: https://docs.npmjs.com/cli/configuring-npm/
//   - pnpm-lock.yaml: https://github.com/pnpm/spec/blob/master/lockfile/9.0.md and older
//   - yarn.lock: https://classic.yarnpkg.com/docs/yarn-lock; since version 2 with the same
//     layout as YAML, https://yarnpkg.com/configuration/manifest
//   - bun.lock: https://bun.sh/docs/install/lockfile
var nodeFormats = []format{
	{Node, "package.json", false, decoded(json.Unmarshal, (*packageManifest).dependencies)},
	{Node, "package-lock.json", true, decoded(json.Unmarshal, (*packageLock).dependencies)},
	{Node, "npm-shrinkwrap.json", true, decoded(json.Unmarshal, (*packageLock).dependencies)},
	{Node, "pnpm-lock.yaml", true, readPNPMLock},
	{Node, "yarn.lock", true, readYarnLock},
	{Node, "bun.lock", true, decoded(unmarshalJWCC, (*bunLock).dependencies)},
}

// A manifest has the dependencies of package.json. Workspaces of lock files have them,
// too.
type manifest struct {
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
}

// all returns the names with their constraints. Packages of the workspace and of the
// file system are not dependencies.
func (m *manifest) all() map[string]string {
	all := map[string]string{}
	for _, group := range []map[string]string{m.PeerDependencies, m.OptionalDependencies, m.DevDependencies,
		m.Dependencies} {
		for name, constraint := range group {
			if !isLocal(constraint) {
				all[name] = constraint
			}
		}
	}
	return all
}

// isLocal reports whether a constraint names a package of the workspace or of the file
// system.
func isLocal(constraint string) bool {
	for _, prefix := range []string{"workspace:", "file:", "link:", "portal:", "."} {
		if strings.HasPrefix(constraint, prefix) {
			return true
		}
	}
	return false
}

// unalias resolves a constraint such as "npm:react@^18.0.0".
func unalias(name, constraint string) (realName, realConstraint string) {
	rest, ok := strings.CutPrefix(constraint, "npm:")
	if !ok {
		return name, constraint
	}
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		return rest[:at], rest[at+1:]
	}
	if rest != "" && (rest[0] == '^' || rest[0] == '~' || rest[0] >= '0' && rest[0] <= '9') {
		return name, rest // Yarn's notation for a version of the registry
	}
	return rest, ""
}

type packageManifest struct {
	manifest
	Engines map[string]string `json:"engines"`
}

func (m *packageManifest) dependencies(string) (list []Dependency) {
	for name, constraint := range m.all() {
		name, constraint = unalias(name, constraint)
		list = append(list, Dependency{Name: name, Constraint: constraint, Direct: true})
	}
	if node := m.Engines["node"]; node != "" {
		list = append(list, Dependency{Ecosystem: Tool, Name: "node", Constraint: node, Direct: true})
	}
	return list
}

type lockedPackage struct {
	manifest
	Name    string `json:"name"` // of an alias
	Version string `json:"version"`
	Link    bool   `json:"link"`
}

// A packageLock has the versions 1 to 3. Version 1 has a tree of dependencies, the others
// have the folders of all packages.
type packageLock struct {
	Packages map[string]lockedPackage `json:"packages"`
	Tree     map[string]struct {
		Version string `json:"version"`
	} `json:"dependencies"`
}

func (lock *packageLock) dependencies(within string) (list []Dependency) {
	if lock.Packages == nil {
		for name, p := range lock.Tree {
			name, version := unalias(name, p.Version)
			list = append(list, Dependency{Name: name, Version: version})
		}
		return list
	}
	const folder = "node_modules/"
	for key, p := range lock.Packages {
		i := strings.LastIndex(key, folder)
		switch {
		case i >= 0 && !p.Link && p.Version != "":
			name := p.Name
			if name == "" {
				name = key[i+len(folder):]
			}
			list = append(list, Dependency{Name: name, Version: p.Version})
		case i < 0 && len(key) <= maxFolder && isBelow(within, key):
			for name := range p.all() {
				if found, ok := nearestPackage(lock.Packages, key, name); ok {
					list = append(list, found)
				}
			}
		}
	}
	return list
}

// maxFolder is the maximum length of a folder's path in a lock file.
const maxFolder = 4096

// nearestPackage finds the package that a folder of the workspace imports, as Node does:
// in the nearest node_modules from the folder upward.
func nearestPackage(packages map[string]lockedPackage, from, name string) (Dependency, bool) {
	at := path.Clean("/" + from)
	for range maxDepth {
		p, ok := packages[strings.TrimPrefix(path.Join(at, "node_modules", name), "/")]
		if ok && !p.Link && p.Version != "" {
			if p.Name != "" {
				name = p.Name
			}
			return Dependency{Name: name, Version: p.Version, Direct: true}, true
		}
		if ok || at == "/" {
			break
		}
		at = path.Dir(at)
	}
	return Dependency{}, false
}

// withoutPeers removes the peers from a version: "(react@18.2.0)" or "_react@18.2.0".
func withoutPeers(version string) string {
	if i := strings.IndexAny(version, "(_"); i >= 0 {
		return version[:i]
	}
	return version
}

// pnpmKey splits the key of a package: "react@18.2.0", "/react@18.2.0" or
// "/react/18.2.0". It returns nothing for another text.
func pnpmKey(key string) (name, version string) {
	key, slash := strings.CutPrefix(withoutPeers(key), "/")
	if i := strings.LastIndexByte(key, '@'); i > 0 {
		return key[:i], key[i+1:]
	}
	if i := strings.LastIndexByte(key, '/'); slash && i > 0 {
		return key[:i], key[i+1:]
	}
	return "", ""
}

// readPNPMLock reads the packages, and the direct dependencies of the folders: in a group
// such as "dependencies", each name has a version or, since format 6, an object with one.
// Without workspace, the groups are at the top. A second document has the dependencies of
// pnpm itself.
func readPNPMLock(data []byte, within string) (list []Dependency, err error) {
	lockLines(data, func(keys []string, value string) {
		if len(keys) == 2 && keys[0] == "packages" {
			if name, version := pnpmKey(keys[1]); name != "" {
				list = append(list, Dependency{Name: name, Version: version})
			}
			return
		}
		folder := "."
		if keys[0] == "importers" && len(keys) > 1 {
			folder, keys = keys[1], keys[2:]
		}
		switch {
		case len(keys) == 3 && keys[2] == "version":
		case len(keys) != 2 || value == "":
			return
		}
		switch keys[0] {
		case "dependencies", "devDependencies", "optionalDependencies":
		default:
			return
		}
		name, version := keys[1], value
		if isLocal(version) || !isBelow(within, folder) {
			return
		}
		if n, real := pnpmKey(version); n != "" { // an alias
			name, version = n, real
		}
		list = append(list, Dependency{Name: name, Version: withoutPeers(version), Direct: true})
	})
	return list, nil
}

var (
	yarnVersion    = regexp.MustCompile(`^  version:? "?([^"\s]+)"?`)
	yarnDescriptor = regexp.MustCompile(`"?((?:@[^@/\s"]+/)?[^@\s",]+)@([^",]*)"?`)
)

// readYarnLock reads both formats: each entry starts with a line of descriptors, as
// `"react@npm:^18.0.0, react@npm:^18.2.0":`, with the version indented below.
func readYarnLock(data []byte, _ string) ([]Dependency, error) {
	var list []Dependency
	var heads [][]string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			heads = yarnDescriptor.FindAllStringSubmatch(strings.TrimSuffix(line, ":"), -1)
		case heads != nil:
			v := yarnVersion.FindStringSubmatch(line)
			if v == nil {
				continue
			}
			byName := map[string][]string{}
			for _, h := range heads {
				if isLocal(h[2]) || strings.HasPrefix(h[2], "patch:") {
					continue
				}
				name, constraint := unalias(h[1], h[2])
				byName[name] = append(byName[name], constraint)
			}
			for name, ranges := range byName {
				list = append(list, Dependency{Name: name, Version: v[1], ranges: ranges})
			}
			heads = nil
		}
	}
	return list, nil
}

type bunLock struct {
	Workspaces map[string]lockedPackage     `json:"workspaces"`
	Packages   map[string][]json.RawMessage `json:"packages"`
}

// unmarshalJWCC decodes JSON with comments and trailing commas.
func unmarshalJWCC(data []byte, v any) error {
	data, err := hujson.Standardize(slices.Clone(data))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func (lock *bunLock) dependencies(within string) (list []Dependency) {
	locked := map[string]Dependency{}
	for key, p := range lock.Packages {
		var id string
		if len(p) == 0 || json.Unmarshal(p[0], &id) != nil {
			continue
		}
		if name, version := pnpmKey(id); name != "" && !isLocal(version) {
			locked[key] = Dependency{Name: name, Version: version}
			list = append(list, locked[key])
		}
	}
	for folder, m := range lock.Workspaces {
		for name := range m.all() {
			d, ok := locked[m.Name+"/"+name] // a version of this workspace only
			if !ok {
				d, ok = locked[name]
			}
			if ok && isBelow(within, folder) {
				d.Direct = true
				list = append(list, d)
			}
		}
	}
	return list
}
