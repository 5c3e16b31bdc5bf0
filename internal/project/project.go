// Package project finds out which software a project uses, and in which versions. It
// reads the lock files and manifests of package managers, version managers and build
// tools. It runs nothing and connects to nothing.
//
// The files come from the project's author, who may not be trusted. What they cost is
// proportional to their size, and that is limited, as are the lines of a manifest, the
// dependencies of a file, and the files. A file beyond the limits is skipped. Names and
// versions that could not be part of a file name are dropped, because callers look for
// installed packages by them.
package project

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// A Dependency is a package, tool, image or service that a project uses.
type Dependency struct {
	Ecosystem string `json:"ecosystem"` // one of the constants below
	Name      string `json:"name"`      // as in the ecosystem's registry
	// Version is the exact version without a leading "v"; empty if no file has it.
	Version string `json:"version,omitempty"`
	// Constraint is the range of versions that the manifest allows.
	Constraint string `json:"constraint,omitempty"`
	Direct     bool   `json:"direct"` // the project itself names it
	File       string `json:"file"`   // that contains it, with slashes, relative to Project.Root

	// Sum is the hash of the package's files in the lock file, if they can be compared with
	// it when they are installed: those of Go modules.
	Sum string `json:"-"`

	// ranges are the constraints that a lock file resolves to the version.
	ranges []string
}

// Ecosystems. Those with installed documentation have the prefixes of package
// installed.
const (
	Go        = "go"
	Node      = "node"
	Python    = "python"
	Rust      = "rust"
	Ruby      = "ruby"
	PHP       = "php"
	Java      = "java" // "group:artifact"
	DotNet    = "dotnet"
	Elixir    = "elixir"
	Dart      = "dart"
	Terraform = "terraform" // providers, "hashicorp/aws"
	Actions   = "github"    // actions of GitHub workflows, "actions/checkout"
	Docker    = "docker"    // images
	Tool      = "tool"      // languages and programs, as version managers name them
)

// ID returns the name with its ecosystem: "node:react".
func (d *Dependency) ID() string { return d.Ecosystem + ":" + d.Name }

// A Project is a folder of a project, with its dependencies.
type Project struct {
	Dir  string `json:"folder"` // absolute
	Root string `json:"root"`   // absolute folder of the repository; else the topmost folder with a file
	// Checkout is the folder of the repository, else Dir. Other than Root, it is never a
	// folder that merely contains the project's.
	Checkout string `json:"-"`
	// Dependencies contains the direct ones first, each sorted by ecosystem, name and
	// version. A name has several entries only if the project uses several versions.
	Dependencies []Dependency `json:"dependencies"`
	Problems     []string     `json:"problems,omitempty"` // files that cannot be read

	// Sources are the stamps of all files that were read, and of the folders that were
	// searched, in which further files may be created.
	Sources []config.Stamp `json:"-"`
}

// Direct returns the direct dependencies.
func (p *Project) Direct() []Dependency {
	n := slices.IndexFunc(p.Dependencies, func(d Dependency) bool { return !d.Direct })
	if n < 0 {
		return p.Dependencies
	}
	return p.Dependencies[:n]
}

const (
	maxLockFile = 16 << 20
	maxManifest = 4 << 20
	// maxLines is the number of lines of a manifest, which people write.
	maxLines = 20_000
	// maxDependencies is the number of dependencies of one file.
	maxDependencies = 50_000
	maxMatches      = 50 // files of one pattern in a folder
	maxDepth        = 32 // folders from the working directory upward
)

// A reader parses one type of file. Within is the working directory relative to the
// file's folder, with slashes: a lock file covers all members of a workspace.
type reader func(data []byte, within string) ([]Dependency, error)

// decoded returns the reader of a file that unmarshal decodes to an F, whose dependencies
// list returns.
func decoded[F any](unmarshal func([]byte, any) error, list func(f *F, within string) []Dependency) reader {
	return func(data []byte, within string) ([]Dependency, error) {
		f := new(F)
		if err := unmarshal(data, f); err != nil {
			return nil, err
		}
		return list(f, within), nil
	}
}

// matched returns the reader of a file in which each match of a pattern is a dependency.
func matched(pattern *regexp.Regexp, dependency func(m []string) Dependency) reader {
	return func(data []byte, _ string) (list []Dependency, err error) {
		for _, m := range pattern.FindAllStringSubmatch(string(data), -1) {
			list = append(list, dependency(m))
		}
		return list, nil
	}
}

// constrained returns a direct dependency from the match of a name and a constraint.
func constrained(m []string) Dependency {
	return Dependency{Name: m[1], Constraint: m[2], Direct: true}
}

// A format is a type of file.
type format struct {
	ecosystem string
	pattern   string // of the file's name or, with a slash, of its path in the folder
	lock      bool   // may be in a folder above the manifest's
	read      reader
}

// formats lists the types of files. Within an ecosystem, lock files of other managers
// than the first one that exists are stale more often than not, so they come last.
func formats() []format {
	return slices.Concat(goFormats, nodeFormats, pythonFormats, rustFormats, rubyFormats, phpFormats,
		javaFormats, dotnetFormats, elixirFormats, dartFormats, toolFormats)
}

// Read reads the files of the project at folder dir, from there up to the root of its
// repository. Of each ecosystem, the nearest folder with a file decides, together with
// the nearest lock file at or above it. home ends the search, too; it is never read
// unless it is dir.
func Read(dir, home string) (*Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !st.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: dir, Err: errors.New("not a folder")}
	}
	w := walk{project: &Project{Dir: dir, Root: dir, Checkout: dir}, found: map[string]*ecosystem{}}
	folders, repository := foldersUp(dir, home)
	for _, at := range folders {
		if stamp, err := config.StampOf(at); err == nil {
			w.project.Sources = append(w.project.Sources, stamp)
		}
		if w.folder(at) {
			w.project.Root = at
		}
	}
	if repository != "" {
		w.project.Root, w.project.Checkout = repository, repository
	}
	w.merge()
	return w.project, nil
}

// foldersUp returns the folders from dir upward to the root of its repository, which is "" if
// there is none, or to below home.
func foldersUp(dir, home string) (folders []string, repository string) {
	for at := dir; len(folders) < maxDepth; at = filepath.Dir(at) {
		if at != dir && (at == home || at == filepath.Dir(at)) {
			break
		}
		folders = append(folders, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return folders, at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return folders, ""
}

// Stamps returns the stamps of the files that Read may read, and of their folders, without
// reading them.
func Stamps(dir, home string) []config.Stamp {
	folders, _ := foldersUp(dir, home)
	var stamps []config.Stamp
	add := func(path string) {
		if stamp, err := config.StampOf(path); err == nil {
			stamps = append(stamps, stamp)
		}
	}
	for _, folder := range folders {
		add(folder)
		for _, f := range formats() {
			for _, path := range f.files(folder) {
				add(path)
			}
		}
	}
	return stamps
}

// files returns the paths of the files of the format in a folder.
func (f *format) files(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(dir), filepath.FromSlash(f.pattern))) // the patterns are valid
	return paths[:min(len(paths), maxMatches)]
}

// A walk collects the files from a folder upward.
type walk struct {
	project *Project
	found   map[string]*ecosystem
	files   []file
}

// An ecosystem holds the folder that decides about one ecosystem.
type ecosystem struct {
	folder string // nearest folder with a file
	locked bool   // its lock file has been found
}

// A file is the parsed contents of one file.
type file struct {
	ecosystem, path string
	dependencies    []Dependency
}

// folder reads the files of a folder and reports whether it contains one.
func (w *walk) folder(dir string) (any bool) {
	for _, f := range formats() {
		e := w.found[f.ecosystem]
		// Each tool has files of its own, so another tool's do not hide them.
		if e != nil && e.folder != dir && f.ecosystem != Tool && (!f.lock || e.locked) {
			continue
		}
		for _, path := range f.files(dir) {
			if !w.read(path, f) {
				continue
			}
			any = true
			if e == nil {
				e = &ecosystem{folder: dir}
				w.found[f.ecosystem] = e
			}
		}
	}
	for _, e := range w.found {
		// The lock files of a folder belong together: go.mod and go.sum.
		e.locked = e.locked || slices.ContainsFunc(w.files, func(f file) bool {
			return w.found[f.ecosystem] == e && filepath.Dir(f.path) == dir && isLock(f.path)
		})
	}
	return any
}

// isLock reports whether a file is a lock file.
func isLock(name string) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return f.lock && f.pattern == filepath.Base(name) })
}

// escapeGlob quotes the special characters of a folder's path.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir // Windows has no escape character; * and ? are not allowed in names
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// read reads a file. It returns false if the file contains nothing.
func (w *walk) read(name string, f format) bool {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return false // a folder, or removed in the meantime
	}
	stamp, err := config.StampOf(name)
	if err != nil {
		return false
	}
	w.project.Sources = append(w.project.Sources, stamp)
	maxFile := int64(maxManifest)
	if f.lock {
		maxFile = maxLockFile
	}
	data, err := atomicfile.Read(name, maxFile)
	if err == nil && !f.lock && bytes.Count(data, []byte("\n")) > maxLines {
		err = fmt.Errorf("more than %d lines", maxLines)
	}
	var found []Dependency
	if err == nil {
		within, relErr := filepath.Rel(filepath.Dir(name), w.project.Dir)
		if relErr != nil || strings.Contains(f.pattern, "/") {
			within = "."
		}
		found, err = readSafely(f.read, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), filepath.ToSlash(within))
	}
	if len(found) > maxDependencies {
		err = fmt.Errorf("more than %d dependencies", maxDependencies)
	}
	if errors.Is(err, atomicfile.ErrTooLong) {
		err = fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	if err != nil {
		w.project.Problems = append(w.project.Problems, fmt.Sprintf("cannot read %s: %v", name, err))
		return false
	}
	found = slices.DeleteFunc(found, func(d Dependency) bool { return !d.valid() })
	for i := range found {
		found[i].Ecosystem = cmp.Or(found[i].Ecosystem, f.ecosystem)
		found[i].Version = trimV(found[i].Version)
	}
	w.files = append(w.files, file{f.ecosystem, name, found})
	return true
}

// readSafely calls a reader. Libraries for file formats may panic on hostile input.
func readSafely(read reader, data []byte, within string) (found []Dependency, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed file: %v", r)
		}
	}()
	return read(data, within)
}

// trimV removes the v of a version such as v1.2.
func trimV(version string) string {
	if len(version) > 1 && (version[0] == 'v' || version[0] == 'V') && version[1] >= '0' && version[1] <= '9' {
		return version[1:]
	}
	return version
}

// valid reports whether the name and the version may be parts of a path.
func (d *Dependency) valid() bool {
	const maxName, maxVersion = 300, 100
	if d.Name == "" || len(d.Name) > maxName || len(d.Version) > maxVersion || strings.ContainsAny(d.Version, `/\`) ||
		strings.Contains(d.Version, "..") {
		return false
	}
	for part := range strings.SplitSeq(d.Name, "/") {
		if part == "" || part[0] == '.' || strings.ContainsAny(part, `\*?"<>|[]`) {
			return false
		}
	}
	return !strings.ContainsFunc(d.Name+d.Version+d.Constraint,
		func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}

// merge fills Project.Dependencies from the files.
func (w *walk) merge() {
	byEcosystem := map[string][]Dependency{}
	for _, f := range w.files {
		name, err := filepath.Rel(w.project.Root, f.path)
		if err != nil {
			name = f.path
		}
		for _, d := range f.dependencies {
			d.File = filepath.ToSlash(name)
			byEcosystem[d.Ecosystem] = append(byEcosystem[d.Ecosystem], d)
		}
	}
	all := []Dependency{}
	for _, list := range byEcosystem {
		all = append(all, resolve(list)...)
	}
	slices.SortFunc(all, func(a, b Dependency) int {
		switch {
		case a.Direct != b.Direct && a.Direct:
			return -1
		case a.Direct != b.Direct:
			return 1
		}
		return cmp.Or(cmp.Compare(a.Ecosystem, b.Ecosystem), cmp.Compare(a.Name, b.Name),
			config.CompareVersions(a.Version, b.Version))
	})
	w.project.Dependencies = all
}

// maxVersions is the number of entries of one name that count. Each is compared with all.
const maxVersions = 100

// resolve combines the dependencies of one ecosystem. A direct one without a version
// gets the version that a lock file has for it. Of several indirect versions of a name,
// the highest is kept.
func resolve(list []Dependency) []Dependency {
	byName := map[string][]Dependency{}
	var names []string
	for _, d := range list {
		if byName[d.Name] == nil {
			names = append(names, d.Name)
		}
		if len(byName[d.Name]) < maxVersions {
			byName[d.Name] = append(byName[d.Name], d)
		}
	}
	var resolved []Dependency
	for _, name := range names {
		resolved = append(resolved, resolveName(byName[name])...)
	}
	return resolved
}

// resolveName returns the dependencies of one name: its direct versions, else the
// highest.
func resolveName(same []Dependency) []Dependency {
	var direct []Dependency
	highest := slices.MaxFunc(same, func(a, b Dependency) int { return config.CompareVersions(a.Version, b.Version) })
	for _, d := range same {
		if !d.Direct {
			continue
		}
		if d.Version == "" {
			d = d.lockedIn(same, highest)
		}
		for _, l := range same {
			if l.Version == d.Version && l.Sum != "" {
				d.Sum = l.Sum // the manifest has none
			}
		}
		at := slices.IndexFunc(direct, func(have Dependency) bool { return have.Version == d.Version })
		switch {
		case at < 0:
			direct = append(direct, d)
		case direct[at].Constraint == "":
			direct[at].Constraint = d.Constraint
		}
	}
	if len(direct) > 0 && direct[0].Ecosystem == Tool {
		slices.SortStableFunc(direct,
			func(a, b Dependency) int { return cmp.Compare(min(len(b.Version), 1), min(len(a.Version), 1)) })
		return direct[:1] // of the nearest file
	}
	// A constraint adds nothing to an exact version.
	if slices.ContainsFunc(direct, func(d Dependency) bool { return d.Version != "" }) {
		direct = slices.DeleteFunc(direct, func(d Dependency) bool { return d.Version == "" })
	}
	if direct != nil {
		return direct
	}
	return []Dependency{highest}
}

// lockedIn returns d with the version that a lock file in the list has for it: for its
// constraint, for a direct dependency, or else the highest.
func (d Dependency) lockedIn(same []Dependency, highest Dependency) Dependency {
	for _, l := range same {
		if l.Version != "" && slices.Contains(l.ranges, d.Constraint) {
			d.Version, d.File = l.Version, l.File
			return d
		}
	}
	for _, l := range same {
		if l.Version != "" && l.Direct {
			d.Version, d.File = l.Version, l.File
			return d
		}
	}
	if highest.Version != "" {
		d.Version, d.File = highest.Version, highest.File
		return d
	}
	d.Version = exactVersion(d.Constraint)
	return d
}

// exactVersion returns the version of a constraint that allows only one, else "".
func exactVersion(constraint string) string {
	v := trimV(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(constraint), "=")))
	if strings.Count(v, ".") < 2 || v[0] < '0' || v[0] > '9' || strings.ContainsAny(v, " ,|<>^~*$()[]/") ||
		strings.Contains(v, ".x") {
		return ""
	}
	return v
}

// isBelow reports whether the folder member is at or below within; both are relative
// with slashes. It is used for the members of a workspace.
func isBelow(within, member string) bool {
	within, member = path.Clean(within), path.Clean(member)
	return within == "." || member == within || strings.HasPrefix(member, within+"/")
}

const (
	maxMembers     = 30
	maxMemberDepth = 4 // folders below the project's
)

// Members returns the folders below a project's that have a manifest of their own, such as
// the members of a workspace. A session may change to them.
func Members(dir string) []string {
	var manifests []string
	for _, f := range formats() {
		if !f.lock && f.ecosystem != Tool && f.ecosystem != Docker && f.ecosystem != Actions &&
			!strings.Contains(f.pattern, "/") {
			manifests = append(manifests, f.pattern)
		}
	}
	isManifest := func(e fs.DirEntry) bool {
		return e.Type().IsRegular() && slices.ContainsFunc(manifests, func(pattern string) bool {
			ok, _ := path.Match(pattern, e.Name())
			return ok
		})
	}
	var members []string
	folders := []string{dir}
	for depth := 0; depth < maxMemberDepth; depth++ {
		var next []string
		for _, at := range folders {
			entries, err := os.ReadDir(at)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if e.IsDir() && !isDependencyFolder(e.Name()) {
					next = append(next, filepath.Join(at, e.Name()))
				}
			}
			if at != dir && slices.ContainsFunc(entries, isManifest) {
				if members = append(members, at); len(members) == maxMembers {
					return members
				}
			}
		}
		const maxFolders = 2000
		folders = next[:min(len(next), maxFolders)]
	}
	return members
}

// isDependencyFolder reports whether a folder has other projects' files, or none.
func isDependencyFolder(name string) bool {
	switch name {
	case "node_modules", "vendor", "target", "testdata", "deps", "dist", "build", "venv", "third_party":
		return true
	}
	return name[0] == '.'
}
