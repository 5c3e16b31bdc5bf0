package installed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/dirhash"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"doc/git-doc/html/index.html", "doc/plain/README", "man/man1/a.1.gz", "man/de/man1/a.1.gz", "man/cat1/a.1", "info/sed.info.gz",
		"mod/cache/download/x", "mod/example.org/!kettle/v2@v2.9.0/a.go", "mod/example.org/!kettle/v2@v2.10.0/a.go",
		"mod/example.org/!kettle/v2@v2.10.0-rc1/a.go", "mod/example.org/pot@v0.1.0/a.go",
		"py/site/Kettle_Pot-1.2.dist-info/METADATA", "py/site/kettlepot/__init__.py", "py/site/single-3.dist-info/METADATA", "py/site/single.py",
		"py/site/other/__init__.py", "node_modules/tea/package.json", "node_modules/@pot/lid/package.json", "node_modules/empty/x.js",
		"rust/kettle/index.html", "rust/src/index.html", "rust/static.files/x.js",
		"go1/src/runtime/a.go", "go2/src/runtime/a.go", "nogo/src/a.go", "zeal/Kettle_Pot.docset/Contents/x", "zeal/other/x",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	top := filepath.Join(dir, "py", "site", "Kettle_Pot-1.2.dist-info", "top_level.txt")
	if err := os.WriteFile(top, []byte("kettlepot\n../evil\nabsent\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := func(name string) []string { return []string{filepath.Join(dir, name)} }
	all, err := Find(t.Context(), Roots{
		Doc: append(at("absent"), at("doc")...), Man: at("man"), Info: at("info"), Go: append(at("mod"), ""), Python: at("p*/site"),
		Node: at("node_modules"), Rust: at("rust"), GoRoot: slices.Concat(at("nogo"), at("go1"), at("go2"), []string{""}), Docset: at("zeal"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range all {
		folder, err := filepath.Rel(dir, d.Folder)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s | %s | %s | %s", d.Name, d.Kind, filepath.ToSlash(folder), strings.Join(d.Include, " "))))
	}
	want := []string{
		"docset:kettle-pot | docset Kettle_Pot | zeal/Kettle_Pot.docset |",
		"git | HTML documentation of a package | doc/git-doc/html |",
		"go:example.org/Kettle/v2 | Go module v2.10.0 | mod/example.org/!kettle/v2@v2.10.0 |",
		"go:example.org/pot | Go module v0.1.0 | mod/example.org/pot@v0.1.0 |",
		"go:std | Go standard library | go1/src | *.go",
		"info | info pages | info |",
		"man1 | manual pages | man/man1 |",
		"node:@pot/lid | Node package | node_modules/@pot/lid | *.md *.mdx *.d.ts docs/**",
		"node:tea | Node package | node_modules/tea | *.md *.mdx *.d.ts docs/**",
		"python:kettle-pot | Python package 1.2 | py/site | Kettle_Pot-1.2.dist-info/METADATA kettlepot/**",
		"python:single | Python package 3 | py/site | single-3.dist-info/METADATA single.py",
		"rust:kettle | Rust documentation | rust/kettle |",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{
		"git": "git", "single": "python:single", "example.org/pot": "go:example.org/pot", "node:tea": "node:tea", "nothing": "", "": "",
	} {
		if d, _ := Choose(all, name); d.Name != want {
			t.Errorf("Choose(%q) = %q, want %q", name, d.Name, want)
		}
	}
	twice := append(all, Documentation{Name: "go:single"})
	if d, ok := Choose(twice, "single"); ok {
		t.Errorf("chose %q of two", d.Name)
	}
}

func TestUsual(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	env := map[string]string{"GOPATH": at("gopath"), "VIRTUAL_ENV": at("venv")}
	r := ProjectRoots(func(name string) string { return env[name] }, at("home"), at("work"), at("work"))
	for name, tt := range map[string]struct {
		have []string
		want string
	}{
		"modules of GOPATH":          {r.Go, at("gopath", "pkg", "mod")},
		"modules of the home":        {r.Go, at("home", "go", "pkg", "mod")},
		"the environment's packages": {r.Python, at("venv", "lib", "python3*", "site-packages")},
		"the folder's packages":      {r.Node, at("work", "node_modules")},
		"the toolchain's crates":     {r.Rust, at("home", ".rustup", "toolchains", "*", "share", "doc", "rust", "html")},
	} {
		found := false
		for _, root := range tt.have {
			found = found || root == tt.want
		}
		if !found {
			t.Errorf("%s: %s is not among %v", name, tt.want, tt.have)
		}
	}
}

// Nothing is found in the working directory for the whole machine, whatever the environment
// says.
func TestMachineIsNotTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if filepath.Separator == '/' { // there it is a relative path
		write(t, dir, `C:\Program Files\Go/src/runtime/a.go`)
	}
	write(t, dir, "target/doc/std/index.html", "node_modules/tea/package.json", ".venv/lib/python3.12/site-packages/Tea-1.dist-info/METADATA",
		"src/runtime/a.go", "go/pkg/mod/tea@v1.0.0/a.go", "man1/tea.1", "info/tea.info", ".rustup/toolchains/x/share/doc/rust/html/tea/index.html")
	for _, set := range []string{"", ".", dir} {
		env := map[string]string{"GOROOT": ".", "GOMODCACHE": "go/pkg/mod", "GOPATH": "go", "MANPATH": ".:", "INFOPATH": "info", "VIRTUAL_ENV": set, "CARGO_TARGET_DIR": set}
		all, err := Find(t.Context(), MachineRoots(func(name string) string { return env[name] }, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if !filepath.IsAbs(d.Folder) || strings.HasPrefix(d.Folder, dir) {
				t.Errorf("%s is found in %s", d.Name, d.Folder)
			}
		}
	}
}

// A digest changes with the name and the contents of each file, and with nothing else.
func TestDigest(t *testing.T) {
	digest := func(files ...string) string {
		dir := t.TempDir()
		write(t, dir, files...)
		d, err := Digest(t.Context(), &Documentation{Folder: dir, Include: []string{"*.md"}})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := digest("README.md=tea", "docs/a.md=pot")
	if got := digest("docs/a.md=pot", "README.md=tea", "index.js=other"); got != want {
		t.Error("the digests of the same documentation differ")
	}
	for _, other := range [][]string{{"README.md=tea"}, {"README.md=teapot", "docs/a.md="}, {"README.md=tea", "docs/b.md=pot"}, {"README.md=tea", "docs/a.md=pots"}} {
		if digest(other...) == want {
			t.Errorf("%q has the same digest", other)
		}
	}
}

// The files of a Go module are compared with the sum of go.sum.
func TestVerifyModule(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go=package a\n")
	sum, err := dirhash.HashDir(dir, "example.org/a@v1.0.0", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	d := Documentation{Folder: dir}
	if err := VerifyModule(&d, "example.org/a", "1.0.0", sum); err != nil {
		t.Error(err)
	}
	write(t, dir, "b.go=package a\n")
	if err := VerifyModule(&d, "example.org/a", "1.0.0", sum); err == nil {
		t.Error("a module with an added file is as go.sum names it")
	}
}

func TestGoRelease(t *testing.T) {
	for content, want := range map[string]string{
		"go1.26.8\ntime 2026-11-03T17:00:00Z\n": "1.26",
		"go1.26":                                "1.26",
		"go1.27rc1\n":                           "1.27",
		"devel go1.27-0123456789\n":             "",
		"":                                      "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "VERSION"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := goRelease(dir); got != want {
			t.Errorf("goRelease of %q = %q, want %q", content, got, want)
		}
	}
	if got := goRelease(t.TempDir()); got != "" {
		t.Errorf("goRelease without a file = %q, want none", got)
	}
}
