package installed

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
)

// A Package is a package of a package manager in one version.
type Package struct {
	Ecosystem string // "go", "node", "python", "rust", "ruby", "php", "elixir", "dart", or "tool"
	Name      string
	Version   string // without a leading "v"
}

// ProjectRoots returns the roots for the packages of a project that works in folder dir.
// Installed packages may be in dir and in the folders above it up to root, and in the
// activated environment.
func ProjectRoots(getenv func(string) string, home, dir, root string) Roots {
	r := MachineRoots(getenv, home)
	venv := []string{"lib/python3*/site-packages", "Lib/site-packages"}
	var node, python []string
	if active := getenv("VIRTUAL_ENV"); active != "" {
		python = below(escape(active), venv...)
	}
	for at := dir; ; at = filepath.Dir(at) {
		node = append(node, escape(filepath.Join(at, "node_modules")))
		for _, name := range []string{".venv", "venv"} {
			python = append(python, below(escape(filepath.Join(at, name)), venv...)...)
		}
		r.PHP = append(r.PHP, escape(filepath.Join(at, "vendor")))
		r.Elixir = append(r.Elixir, escape(filepath.Join(at, "deps")))
		r.Ruby = append(r.Ruby, escape(filepath.Join(at, "vendor", "bundle"))+"/ruby/*/gems")
		r.Rust = append(r.Rust, escape(filepath.Join(at, "target", "doc")))
		if at == root || at == filepath.Dir(at) {
			break
		}
	}
	r.Node, r.Python = append(node, r.Node...), append(python, r.Python...)
	r.Crates = []string{filepath.Join(cmp.Or(getenv("CARGO_HOME"), filepath.Join(home, ".cargo")), "registry", "src",
		"*")}
	r.Ruby = append(r.Ruby, filepath.Join(home, ".gem", "ruby", "*", "gems"),
		filepath.Join(home, ".local", "share", "gem", "ruby", "*", "gems"),
		filepath.Join(home, ".rbenv", "versions", "*", "lib", "ruby", "gems", "*", "gems"), "/var/lib/gems/*/gems",
		"/usr/share/rubygems-integration/*/gems", "/usr/local/lib/ruby/gems/*/gems")
	r.Dart = []string{filepath.Join(cmp.Or(getenv("PUB_CACHE"), filepath.Join(home, ".pub-cache")), "hosted", "*")}
	return r
}

// escape quotes the special characters of a folder's path in a pattern.
func escape(dir string) string {
	if filepath.Separator == '\\' { // no escapes, and no file has one of the other characters
		return strings.ReplaceAll(dir, "[", "[[]")
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// OfPackage returns the installed documentation of exactly that version of a package. It
// returns false if there is none. Without a version, the first one that is installed
// counts.
func OfPackage(roots Roots, p Package) (Documentation, bool) {
	find := map[string]func(Roots, Package) (Documentation, bool){
		"go": goModule, "node": nodeModule, "python": pythonPackage, "rust": crate, "ruby": gem,
		"php": phpPackage, "elixir": elixirPackage, "dart": dartPackage, "tool": toolManual,
	}[p.Ecosystem]
	if find == nil || p.Name == "" || strings.ContainsAny(p.Name, `*?[\`) {
		return Documentation{}, false
	}
	d, ok := find(roots, p)
	d.Name, d.Version = p.Ecosystem+":"+p.Name, cmp.Or(p.Version, d.Version)
	return d, ok
}

// PackageVersion returns the version of the package in a folder that OfPackage returned,
// or "" if its files do not say. Node's folders do not have the version in their names.
func PackageVersion(ecosystem, folder string) string {
	if ecosystem != "node" {
		return ""
	}
	var manifest struct {
		Version string `json:"version"`
	}
	data, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil || json.Unmarshal(data, &manifest) != nil {
		return ""
	}
	return manifest.Version
}

// firstFolder returns the first existing folder of that relative path below the roots.
func firstFolder(roots []string, name string, accept func(dir string) bool) (string, bool) {
	for _, root := range roots {
		if !filepath.IsAbs(root) { // as in finder.each
			continue
		}
		dirs, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(name))) // the roots are valid patterns
		for _, dir := range dirs {
			if isFolder(dir) && (accept == nil || accept(dir)) {
				return dir, true
			}
		}
	}
	return "", false
}

func goModule(roots Roots, p Package) (Documentation, bool) {
	path, err := module.EscapePath(p.Name)
	if err != nil || p.Version == "" {
		return Documentation{}, false
	}
	version, err := module.EscapeVersion("v" + p.Version)
	if err != nil {
		return Documentation{}, false
	}
	dir, ok := firstFolder(roots.Go, path+"@"+version, nil)
	return Documentation{Kind: "Go module v" + p.Version, Folder: dir,
		Exclude: append(goExcluded(), "third_party", "*.pb.go")}, ok
}

func nodeModule(roots Roots, p Package) (Documentation, bool) {
	dir, ok := firstFolder(roots.Node, p.Name, func(dir string) bool {
		version := PackageVersion("node", dir)
		return version != "" && (p.Version == "" || version == p.Version)
	})
	return Documentation{Kind: "Node package", Version: PackageVersion("node", dir), Folder: dir, Include: nodeFiles(),
		Exclude: []string{"test", "tests"}}, ok
}

// nodeFiles returns the patterns of a Node package's documentation: README, docs, and type
// declarations, whose comments editors show.
func nodeFiles() []string { return []string{"*.md", "*.mdx", "*.d.ts", "*.d.mts", "docs/**"} }

var pythonMetadata = regexp.MustCompile(`^([A-Za-z0-9_.]+)-([^-]+)(?:-py[0-9.]+)?\.(dist-info|egg-info)$`)

// pythonPackage looks for the metadata: NAME-VERSION.dist-info, or .egg-info as
// setuptools and Debian write it.
func pythonPackage(roots Roots, p Package) (found Documentation, ok bool) {
	normalize := func(name string) string {
		return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
	}
	f := &finder{ctx: context.Background()}
	f.each(roots.Python, func(dir string) {
		if ok {
			return
		}
		for _, name := range folders(dir) {
			m := pythonMetadata.FindStringSubmatch(name)
			if m == nil || normalize(m[1]) != normalize(p.Name) || p.Version != "" && m[2] != p.Version {
				continue
			}
			found, ok = pythonDocumentation(dir, name, m[1], m[2]), true
			return
		}
	})
	return found, ok
}

// crate prefers the output of cargo doc to the sources, if it is of this version: its
// pages contain the version only in newer releases of cargo, so the sources decide.
func crate(roots Roots, p Package) (Documentation, bool) {
	if p.Version != "" {
		dir, ok := firstFolder(roots.Crates, p.Name+"-"+p.Version, nil)
		return Documentation{Kind: "Rust crate " + p.Version, Folder: dir, Include: []string{"*.md", "*.rs"},
			Exclude: []string{"tests", "benches"}}, ok
	}
	dir, ok := firstFolder(roots.Rust, strings.ReplaceAll(p.Name, "-", "_"), nil)
	return Documentation{Kind: "Rust documentation", Folder: dir}, ok
}

func gem(roots Roots, p Package) (Documentation, bool) {
	if p.Version == "" {
		return Documentation{}, false
	}
	dir, ok := firstFolder(roots.Ruby, p.Name+"-"+p.Version, nil)
	return Documentation{Kind: "Ruby gem " + p.Version, Folder: dir,
		Include: []string{"*.md", "*.rdoc", "lib/**", "docs/**", "doc/**"},
		Exclude: []string{"test", "spec"}}, ok
}

func phpPackage(roots Roots, p Package) (Documentation, bool) {
	dir, ok := firstFolder(roots.PHP, p.Name, nil)
	return Documentation{Kind: "PHP package", Folder: dir, Include: []string{"*.md", "*.rst", "*.php"},
		Exclude: []string{"Tests", "tests"}}, ok
}

func elixirPackage(roots Roots, p Package) (Documentation, bool) {
	dir, ok := firstFolder(roots.Elixir, p.Name, nil)
	return Documentation{Kind: "Elixir package", Folder: dir, Include: []string{"*.md", "lib/**"},
		Exclude: []string{"test"}}, ok
}

func dartPackage(roots Roots, p Package) (Documentation, bool) {
	if p.Version == "" {
		return Documentation{}, false
	}
	dir, ok := firstFolder(roots.Dart, p.Name+"-"+p.Version, nil)
	return Documentation{Kind: "Dart package " + p.Version, Folder: dir, Include: []string{"*.md", "lib/**"},
		Exclude: []string{"test", "src"}}, ok
}

// toolManual returns the manual of a language on this machine, if it is of the same
// release: Go's standard library, Python's manual, and the books of rustup.
func toolManual(roots Roots, p Package) (Documentation, bool) {
	parts := strings.SplitN(p.Version, ".", 3)
	if len(parts) < 2 {
		return Documentation{}, false
	}
	release := parts[0] + "." + parts[1]
	f := &finder{ctx: context.Background(), known: map[string]bool{}}
	switch p.Name {
	case "go":
		f.each(roots.GoRoot, func(dir string) {
			if goRelease(dir) == release {
				f.goStandard(dir)
			}
		})
	case "python":
		f.each(roots.Doc, func(dir string) {
			if html := filepath.Join(dir, "python"+release, "html"); isFolder(html) {
				f.add(Documentation{Name: "python", Kind: "Python manual " + release, Folder: html,
					Exclude: []string{"whatsnew"}})
			}
		})
	case "rust":
		f.each(roots.Rust, func(dir string) {
			if strings.Contains(dir, "toolchains"+string(filepath.Separator)+release) {
				f.add(Documentation{Name: "rust", Kind: "Rust manuals " + release, Folder: dir})
			}
		})
	}
	if len(f.found) == 0 {
		return Documentation{}, false
	}
	return f.found[0], true
}
