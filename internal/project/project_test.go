package project

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the wanted dependencies to the archives in testdata")

// describe returns the dependencies of a project, one per line.
func describe(p *Project) string {
	var b strings.Builder
	for _, d := range p.Dependencies {
		kind := "indirect"
		if d.Direct {
			kind = "direct"
		}
		fmt.Fprintf(&b, "%s %s %s", kind, d.ID(), d.Version)
		if d.Version == "" {
			fmt.Fprintf(&b, "(%s)", d.Constraint)
		}
		fmt.Fprintf(&b, " %s\n", d.File)
	}
	for _, problem := range p.Problems {
		problem = strings.ReplaceAll(problem, p.Root+string(filepath.Separator), "")
		b.WriteString(problem + "\n")
	}
	return b.String()
}

// extract writes an archive to a repository, except for the wanted dependencies.
func extract(t *testing.T, a *txtar.Archive) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "want ") {
			continue
		}
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Each archive has the files of a project, and the dependencies in some of its folders.
func TestRead(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			root := extract(t, a)
			checked := 0
			for i, f := range a.Files {
				folder, ok := strings.CutPrefix(f.Name, "want ")
				if !ok {
					continue
				}
				checked++
				p, err := Read(filepath.Join(root, folder), "")
				if err != nil {
					t.Fatal(err)
				}
				got := describe(p)
				if *update {
					a.Files[i].Data = []byte(got)
				} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("in %s (-want +got)\n%s", folder, diff)
				}
			}
			if checked == 0 {
				t.Error("nothing is wanted")
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Every format has a file in testdata from which it reads a dependency.
func TestFormatsHaveFixtures(t *testing.T) {
	var files []txtar.File
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, a.Files...)
	}
	for _, f := range formats() {
		if !slices.ContainsFunc(files, func(file txtar.File) bool {
			folder, name := "", file.Name
			if n := strings.Count(f.pattern, "/"); strings.Count(name, "/") > n {
				parts := strings.Split(name, "/")
				folder, name = strings.Join(parts[:len(parts)-n-1], "/"), strings.Join(parts[len(parts)-n-1:], "/")
			}
			_ = folder
			if ok, err := filepath.Match(f.pattern, name); !ok || err != nil {
				return false
			}
			found, err := f.read(file.Data, ".")
			return err == nil && len(found) > 0
		}) {
			t.Errorf("no file in testdata for %s", f.pattern)
		}
	}
}

// Names and versions that leave a folder are dropped, and a broken file does not affect
// the others.
func TestReadHostile(t *testing.T) {
	a := txtar.Parse([]byte(`
-- package.json --
{"dependencies": {"../evil": "1.0.0", "a/../../b": "1.0.0", ".hidden": "1.0.0", "good": "1.0.0", "bad\u0000": "1.0.0", "slash": "1.0.0/../.."}}
-- Cargo.lock --
not = [toml
-- .nvmrc --
v20.1.0
`))
	p, err := Read(extract(t, a), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range p.Dependencies {
		names = append(names, d.ID()+" "+d.Version)
	}
	if diff := cmp.Diff([]string{"node:good 1.0.0", "node:slash ", "tool:node 20.1.0"}, names); diff != "" {
		t.Error(diff)
	}
	if len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "Cargo.lock") {
		t.Errorf("problems %q", p.Problems)
	}
}

// A direct dependency has the hash of go.sum for its version.
func TestSum(t *testing.T) {
	p, err := Read(extract(t, txtar.Parse([]byte(`
-- go.mod --
module x
require (
	example.org/a v1.2.0
	example.org/b v1.0.0
)
-- go.sum --
example.org/a v1.2.0 h1:sum=
example.org/a v1.2.0/go.mod h1:other=
example.org/b v1.1.0 h1:newer=
`))), "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range p.Direct() {
		got[d.Name] = d.Sum
	}
	if diff := cmp.Diff(map[string]string{"example.org/a": "h1:sum=", "example.org/b": ""}, got); diff != "" {
		t.Error(diff)
	}
}

// The search ends at the home folder, whose files belong to no project.
func TestReadHome(t *testing.T) {
	home := t.TempDir()
	work := filepath.Join(home, "work", "a")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(home, ".nvmrc"), filepath.Join(home, "work", ".python-version")} {
		if err := os.WriteFile(name, []byte("3.12.1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Read(work, home)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(p); got != "direct tool:python 3.12.1 .python-version\n" || p.Root != filepath.Dir(work) {
		t.Errorf("root %s, dependencies\n%s", p.Root, got)
	}
	if _, err := Read(filepath.Join(work, "missing"), home); err == nil {
		t.Error("no error for a missing folder")
	}
}

// FuzzFormats reads any text with any format. A reader must not panic or hang, and what
// comes out must be valid JSON.
func FuzzFormats(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	all := formats()
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			for i, format := range all {
				if ok, _ := filepath.Match(filepath.Base(format.pattern), filepath.Base(file.Name)); ok {
					f.Add(uint8(i), file.Data)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		for _, within := range []string{".", "packages/web", "../x"} {
			found, err := all[int(n)%len(all)].read(data, within)
			if err != nil {
				continue
			}
			for i := range found {
				if found[i].valid() {
					if _, err := json.Marshal(found[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			resolve(found)
		}
	})
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		id, short, names string
	}{
		{"go:github.com/spf13/cobra", "cobra", "cobra spf13-cobra github.com-spf13-cobra go-github.com-spf13-cobra"},
		{"go:github.com/redis/go-redis/v9", "go-redis", "go-redis go-redis-v9 redis-go-redis-v9 github.com-redis-go-redis-v9 go-github.com-redis-go-redis-v9"},
		{"go:gopkg.in/yaml.v3", "yaml", "yaml yaml.v3 gopkg.in-yaml.v3 go-gopkg.in-yaml.v3"},
		{"node:@tanstack/query-core", "query-core", "tanstack-query-core node-tanstack-query-core"},
		{"node:react", "react", "react node-react"},
		{"java:com.squareup.okhttp3:okhttp", "okhttp", "okhttp com.squareup.okhttp3-okhttp java-com.squareup.okhttp3-okhttp"},
		{"php:symfony/console", "console", "console symfony-console php-symfony-console"},
	} {
		ecosystem, name, _ := strings.Cut(tt.id, ":")
		d := Dependency{Ecosystem: ecosystem, Name: name}
		if got := d.ShortName(); got != tt.short {
			t.Errorf("short name of %s: %q, want %q", tt.id, got, tt.short)
		}
		if diff := cmp.Diff(tt.names, strings.Join(d.FileNames(), " ")); diff != "" {
			t.Errorf("%s: %s", tt.id, diff)
		}
	}
}

func TestMembers(t *testing.T) {
	root := extract(t, txtar.Parse([]byte(`
-- package.json --
{}
-- packages/web/package.json --
{}
-- packages/web/node_modules/x/package.json --
{}
-- packages/plain/x.txt --
x
-- services/api/go.mod --
module x
-- .hidden/go.mod --
module x
-- a/b/c/d/e/go.mod --
module x
`)))
	var got []string
	for _, dir := range Members(root) {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if diff := cmp.Diff([]string{"packages/web", "services/api"}, got); diff != "" {
		t.Error(diff)
	}
}
