package installed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write creates files with the contents after "=", else with "x".
func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		name, contents, ok := strings.Cut(name, "=")
		if !ok {
			contents = "x"
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Only the version that is asked for is found, in the nearest folder.
func TestOfPackage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir,
		"home/go/pkg/mod/github.com/!burnt!sushi/toml@v1.4.0/toml.go",
		"home/.cargo/registry/src/index/serde-1.0.204/src/lib.rs",
		"home/.pub-cache/hosted/pub.example.org/http-1.2.2/README.md",
		`repo/node_modules/react/package.json={"version": "19.1.0"}`,
		`repo/web/node_modules/react/package.json={"version": "18.3.1"}`,
		`repo/node_modules/@scope/name/package.json={"version": "1.0.0"}`,
		"repo/node_modules/broken/package.json",
		"repo/.venv/lib/python3.12/site-packages/Flask_Login-0.6.3.dist-info/METADATA",
		"repo/.venv/lib/python3.12/site-packages/flask_login/__init__.py",
		"repo/.venv/lib/python3.12/site-packages/six-1.16.0-py3.12.egg-info/PKG-INFO",
		"repo/.venv/lib/python3.12/site-packages/six.py",
		"repo/vendor/symfony/console/README.md", "repo/vendor/bundle/ruby/3.3.0/gems/rails-7.1.3/README.md", "repo/deps/phoenix/README.md",
		"go/src/runtime/a.go", "go/VERSION=go1.24.1\ntime 2025\n",
	)
	env := map[string]string{"GOROOT": filepath.Join(dir, "go")}
	web, repo := filepath.Join(dir, "repo", "web"), filepath.Join(dir, "repo")
	roots := ProjectRoots(func(name string) string { return env[name] }, filepath.Join(dir, "home"), web, repo)
	for _, tt := range []struct {
		pkg    Package
		folder string // below dir; empty: none
	}{
		{Package{"go", "github.com/BurntSushi/toml", "1.4.0"}, "home/go/pkg/mod/github.com/!burnt!sushi/toml@v1.4.0"},
		{Package{"go", "github.com/BurntSushi/toml", "1.3.0"}, ""},
		{Package{"go", "bad path", "1.3.0"}, ""},
		{Package{"node", "react", "18.3.1"}, "repo/web/node_modules/react"},
		{Package{"node", "react", "19.1.0"}, "repo/node_modules/react"},
		{Package{"node", "react", ""}, "repo/web/node_modules/react"},
		{Package{"node", "react", "17.0.0"}, ""},
		{Package{"node", "@scope/name", "1.0.0"}, "repo/node_modules/@scope/name"},
		{Package{"node", "broken", ""}, ""},
		{Package{"node", "*", "19.1.0"}, ""},
		{Package{"python", "flask-login", "0.6.3"}, "repo/.venv/lib/python3.12/site-packages"},
		{Package{"python", "flask-login", "0.6.4"}, ""},
		{Package{"python", "six", ""}, "repo/.venv/lib/python3.12/site-packages"},
		{Package{"rust", "serde", "1.0.204"}, "home/.cargo/registry/src/index/serde-1.0.204"},
		{Package{"ruby", "rails", "7.1.3"}, "repo/vendor/bundle/ruby/3.3.0/gems/rails-7.1.3"},
		{Package{"php", "symfony/console", "7.1.2"}, "repo/vendor/symfony/console"},
		{Package{"elixir", "phoenix", "1.7.14"}, "repo/deps/phoenix"},
		{Package{"dart", "http", "1.2.2"}, "home/.pub-cache/hosted/pub.example.org/http-1.2.2"},
		{Package{"tool", "go", "1.24.1"}, "go/src"},
		{Package{"tool", "go", "1.23.0"}, ""},
		{Package{"docker", "postgres", "16"}, ""},
	} {
		d, ok := OfPackage(roots, tt.pkg)
		folder, err := filepath.Rel(dir, d.Folder)
		if err != nil && ok {
			t.Fatal(err)
		}
		if ok != (tt.folder != "") || ok && filepath.ToSlash(folder) != tt.folder {
			t.Errorf("%v: %q, %t; want %q", tt.pkg, folder, ok, tt.folder)
		}
	}
	d, _ := OfPackage(roots, Package{"python", "six", ""})
	if d.Version != "1.16.0" || d.Name != "python:six" || strings.Join(d.Include, " ") != "six-1.16.0-py3.12.egg-info/PKG-INFO six.py" {
		t.Errorf("six: %+v", d)
	}
}
