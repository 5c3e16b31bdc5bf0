// Package installed finds documentation that is already on the machine: of
// Debian packages, man and info pages, Go's standard library and modules, Python
// and Node packages, cargo doc and rustup, and docsets of Dash and Zeal.
package installed

import (
	"cmp"
	"context"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// A Documentation is a set of installed documentation.
type Documentation struct {
	Name   string // name to select it: "git", "man1", "go:golang.org/x/net", "python:requests"
	Kind   string // "HTML of a Debian package"
	Folder string
	// Include and Exclude are the patterns of its files in the folder.
	Include, Exclude []string
	Version          string // of the package; empty: unknown
	Package          string // identity of the package, as "tool:go"; empty: unknown
	Files            int
	Bytes            int64
}

// Roots are the folders to search. Each may be a pattern.
type Roots struct {
	Doc    []string // package folders with documentation in html
	Man    []string // folders of man sections
	Info   []string
	Go     []string // module caches
	GoRoot []string // Go installations
	Python []string // package folders
	Node   []string // node_modules folders
	Rust   []string // crate documentation folders
	Docset []string // folders of docsets

	// The others are searched for single packages only, see OfPackage.
	Crates []string // sources of crates
	Ruby   []string // folders of gems
	PHP    []string // Composer's vendor folders
	Elixir []string // Mix's folders of dependencies
	Dart   []string // pub's caches
}

// MachineRoots returns the roots of this machine. Some may not exist. None is a folder of a
// project: whatever a checkout contains must not become documentation for other folders.
func MachineRoots(getenv func(string) string, home string) Roots {
	list := func(name string) []string { return filepath.SplitList(getenv(name)) }
	r := Roots{
		Doc: []string{"/usr/share/doc", "/usr/local/share/doc", "/opt/homebrew/share/doc"},
		Man: append(list("MANPATH"), "/usr/share/man", "/usr/local/share/man", "/usr/local/man",
			"/opt/homebrew/share/man"),
		Info: append(list("INFOPATH"), "/usr/share/info", "/usr/local/share/info", "/opt/homebrew/share/info"),
		Go:   []string{getenv("GOMODCACHE")},
		GoRoot: []string{
			getenv("GOROOT"), "/usr/local/go", "/usr/lib/go", "/usr/lib/go-*", "/usr/lib/golang",
			"/opt/homebrew/opt/go/libexec", `C:\Program Files\Go`,
		},
		Python: slices.Concat(
			below(home, ".local/lib/python3*/site-packages", ".pyenv/versions/*/lib/python3*/site-packages"),
			[]string{"/usr/lib/python3/dist-packages", "/usr/local/lib/python3*/dist-packages",
				"/usr/local/lib/python3*/site-packages", "/opt/homebrew/lib/python3*/site-packages"},
			below(getenv("LOCALAPPDATA"), "Programs/Python/Python3*/Lib/site-packages")),
		Node: slices.Concat([]string{"/usr/lib/node_modules", "/usr/local/lib/node_modules",
			"/opt/homebrew/lib/node_modules"},
			below(getenv("APPDATA"), "npm/node_modules")),
		Rust: below(cmp.Or(getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")), "toolchains/*/share/doc/rust/html"),
		Docset: slices.Concat(below(home, ".local/share/Zeal/Zeal/docsets",
			"Library/Application Support/Dash/DocSets/*", "Library/Application Support/Dash/Versioned DocSets/*"),
			below(getenv("LOCALAPPDATA"), "Zeal/Zeal/docsets")),
	}
	for _, dir := range append(list("GOPATH"), filepath.Join(home, "go")) {
		r.Go = append(r.Go, below(dir, "pkg/mod")...)
		r.GoRoot = append(r.GoRoot, below(dir, "pkg/mod/golang.org/toolchain@*")...)
	}
	return r
}

// below returns patterns in a folder, none if the folder is not known.
func below(dir string, patterns ...string) []string {
	if dir == "" {
		return nil
	}
	var all []string
	for _, p := range patterns {
		all = append(all, filepath.Join(dir, filepath.FromSlash(p)))
	}
	return all
}

// Find lists the documentation below the roots by name. For duplicates, the
// first one wins.
func Find(ctx context.Context, roots Roots) ([]Documentation, error) {
	f := &finder{ctx: ctx, known: map[string]bool{}}
	f.each(roots.Doc, f.debian)
	f.each(roots.Man, f.man)
	f.each(roots.Info, f.info)
	f.each(roots.GoRoot, f.goStandard)
	f.each(roots.Go, f.modules)
	f.each(roots.Python, f.python)
	f.each(roots.Node, f.node)
	f.each(roots.Rust, f.rust)
	f.each(roots.Docset, f.docsets)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	slices.SortFunc(f.found, func(a, b Documentation) int { return cmp.Compare(a.Name, b.Name) })
	return f.found, nil
}

// Choose returns the documentation with that name. The prefix before the colon
// is optional if the name is unique.
func Choose(all []Documentation, name string) (Documentation, bool) {
	var chosen []Documentation
	for _, d := range all {
		if d.Name == name {
			return d, true
		}
		if _, rest, ok := strings.Cut(d.Name, ":"); ok && rest == name {
			chosen = append(chosen, d)
		}
	}
	if len(chosen) != 1 {
		return Documentation{}, false
	}
	return chosen[0], true
}

type finder struct {
	ctx   context.Context
	found []Documentation
	known map[string]bool // names
}

// each calls find for every folder that matches the patterns. It ignores relative ones, which
// an incomplete environment leads to: they would be in the working directory.
func (f *finder) each(patterns []string, find func(dir string)) {
	seen := map[string]bool{}
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) || f.ctx.Err() != nil {
			continue
		}
		dirs, _ := filepath.Glob(pattern) // built-in patterns and folder names are valid
		for _, dir := range dirs {
			if dir = filepath.Clean(dir); !seen[dir] {
				seen[dir] = true
				find(dir)
			}
		}
	}
}

func (f *finder) add(d Documentation) {
	if !f.known[d.Name] {
		f.known[d.Name] = true
		f.found = append(f.found, d)
	}
}

// folders returns the names of the folders in dir.
func folders(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // unreadable
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func (f *finder) debian(dir string) {
	for _, name := range folders(dir) {
		html := filepath.Join(dir, name, "html")
		if isFolder(html) {
			f.add(Documentation{Name: strings.TrimSuffix(name, "-doc"), Kind: "HTML documentation of a package",
				Folder: html})
		}
	}
}

func (f *finder) man(dir string) {
	for _, name := range folders(dir) {
		if len(name) == len("man1") && strings.HasPrefix(name, "man") {
			f.add(Documentation{Name: name, Kind: "manual pages", Folder: filepath.Join(dir, name)})
		}
	}
}

func (f *finder) info(dir string) {
	if pages, _ := filepath.Glob(filepath.Join(dir, "*.info*")); len(pages) > 0 {
		f.add(Documentation{Name: "info", Kind: "info pages", Folder: dir})
	}
}

// goStandard lists the standard library of a Go installation: its sources, which
// contain their documentation.
func (f *finder) goStandard(dir string) {
	src := filepath.Join(dir, "src")
	if !isFolder(filepath.Join(src, "runtime")) {
		return
	}
	f.add(Documentation{
		Name: "go:std", Kind: "Go standard library", Folder: src, Version: goRelease(dir), Package: "tool:go",
		Include: []string{"*.go"}, Exclude: append(goExcluded(), "cmd"),
	})
}

// goRelease returns the release of a Go installation, as "1.26" for go1.26.8: the patches of a
// release have the same documentation. It returns "" for a development version.
func goRelease(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if name := strings.TrimSpace(line); version.IsValid(name) {
		return strings.TrimPrefix(version.Lang(name), "go")
	}
	return ""
}

// goExcluded returns the patterns of files that are no documentation of Go packages: tests,
// but for examples, what others cannot import, and the functions of systems that pkg.go.dev does
// not show, which repeat those of the others.
func goExcluded() []string {
	patterns := []string{"[^e]*_test.go", "e[^x]*_test.go", "ex[^a]*_test.go", "testdata", "vendor", "internal"}
	for _, system := range []string{"aix", "android", "dragonfly", "freebsd", "illumos", "ios", "netbsd", "openbsd",
		"plan9", "solaris", "wasip1"} {
		patterns = append(patterns, "*_"+system+".go", "*_"+system+"_*.go")
	}
	return patterns
}

// modules lists Go modules. Their folders are named path@version; ! and a
// lower-case letter stand for an upper-case letter.
func (f *finder) modules(dir string) {
	var walk func(dir, path string, depth int)
	walk = func(dir, path string, depth int) {
		const deepest = 8
		if depth == deepest || f.ctx.Err() != nil {
			return
		}
		versions := map[string]string{} // latest version of each module
		for _, name := range folders(dir) {
			module, version, ok := strings.Cut(name, "@")
			switch {
			case ok:
				if latest, found := versions[module]; !found || semver.Compare(version, latest) > 0 {
					versions[module] = version
				}
			case depth > 0 || name != "cache":
				walk(filepath.Join(dir, name), path+name+"/", depth+1)
			}
		}
		for module, version := range versions {
			f.add(Documentation{
				Name: "go:" + unescaped(path+module), Kind: "Go module " + version,
				Folder:  filepath.Join(dir, module+"@"+version),
				Exclude: goExcluded(), Version: strings.TrimPrefix(version, "v"),
			})
		}
	}
	walk(dir, "", 0)
}

func unescaped(path string) string {
	var b strings.Builder
	upper := false
	for _, r := range path {
		if r == '!' {
			upper = true
			continue
		}
		if upper {
			r -= 'a' - 'A'
			upper = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// python lists Python packages by their metadata: a folder
// NAME-VERSION.dist-info, which lists their modules.
func (f *finder) python(dir string) {
	for _, name := range folders(dir) {
		if m := pythonMetadata.FindStringSubmatch(name); m != nil {
			d := pythonDocumentation(dir, name, m[1], m[2])
			d.Name = "python:" + strings.ToLower(strings.ReplaceAll(m[1], "_", "-"))
			f.add(d)
		}
	}
}

// pythonDocumentation returns the documentation of a package with that folder of metadata:
// the README in it, and the docstrings and stubs of the modules.
func pythonDocumentation(dir, metadata, pkg, version string) Documentation {
	readme := "METADATA"
	if strings.HasSuffix(metadata, ".egg-info") {
		readme = "PKG-INFO"
	}
	include := []string{metadata + "/" + readme}
	for _, module := range modulesOf(filepath.Join(dir, metadata), pkg) {
		if isFolder(filepath.Join(dir, module)) {
			include = append(include, module+"/**")
		} else if _, err := os.Stat(filepath.Join(dir, module+".py")); err == nil {
			include = append(include, module+".py")
		}
	}
	return Documentation{Kind: "Python package " + version, Version: version, Folder: dir, Include: include,
		Exclude: []string{"tests", "test", "_vendor"}}
}

// modulesOf returns the modules of a package: those that its metadata lists,
// else the one with its name.
func modulesOf(dir, pkg string) []string {
	data, err := os.ReadFile(filepath.Join(dir, "top_level.txt"))
	if err != nil {
		return slices.Compact([]string{pkg, strings.ToLower(pkg)})
	}
	var modules []string
	for _, m := range strings.Fields(string(data)) {
		if !strings.ContainsAny(m, `/\*?[`) && !strings.HasPrefix(m, ".") {
			modules = append(modules, m)
		}
	}
	return modules
}

func (f *finder) node(dir string) {
	for _, name := range folders(dir) {
		if !strings.HasPrefix(name, "@") {
			f.nodePackage(dir, name)
			continue
		}
		for _, inner := range folders(filepath.Join(dir, name)) {
			f.nodePackage(dir, name+"/"+inner)
		}
	}
}

func (f *finder) nodePackage(dir, name string) {
	folder := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(filepath.Join(folder, "package.json")); err != nil {
		return
	}
	f.add(Documentation{
		Name: "node:" + name, Kind: "Node package", Folder: folder,
		Include: []string{"*.md", "*.mdx", "*.d.ts", "docs/**"}, Exclude: []string{"test", "tests"},
	})
}

func (f *finder) rust(dir string) {
	for _, name := range folders(dir) {
		if _, err := os.Stat(filepath.Join(dir, name, "index.html")); err != nil {
			continue
		}
		switch name {
		case "src", "static.files", "help", "implementors", "search.index", "trait.impl", "type.impl":
		default:
			f.add(Documentation{Name: "rust:" + name, Kind: "Rust documentation", Folder: filepath.Join(dir, name)})
		}
	}
}

// docsets lists the docsets in a folder. Dash keeps each one in a folder of its
// own.
func (f *finder) docsets(dir string) {
	for _, name := range folders(dir) {
		if title, ok := strings.CutSuffix(name, ".docset"); ok {
			name := "docset:" + strings.ToLower(strings.ReplaceAll(title, "_", "-"))
			f.add(Documentation{Name: name, Kind: "docset " + title, Folder: filepath.Join(dir, title+".docset")})
		}
	}
}
