package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestConsent runs the commands that download or add to the config. Without a terminal they
// do nothing without --yes; at a terminal they do nothing that the user declines.
func TestConsent(t *testing.T) {
	var requests atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path != "/docs/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><title>Turn the crank</title><main><h1>Turn the crank</h1><p>The crank of a widget is turned until the bell rings.</p></main></html>")
	}))
	defer site.Close()
	work := t.TempDir()
	writeFiles(t, work, map[string]string{
		"docs/bells.md":                          "# Ring the bell\n\nThe bell rings when the widget is done.\n",
		"mod/example.org/bell@v1.0.0/clapper.md": "# Hang the clapper\n\n## Clapper weight\n\nThe clapper weight setting of a bell decides how loud the bell rings. " + strings.Repeat("A heavy clapper rings loud. ", 20),
		"mod/example.org/bell@v1.0.0/crank.md":   "# Turn the crank\n\nThe crank turns the wheel.\n",
		"bell.toml":                              "title = \"Bell\"\nkeywords = [\"bell\"]\nlicense = \"MIT\"\nattribution = \"Bells\"\nquestions = [\"bell clapper weight setting\"]\n[source]\ninstalled = \"go:example.org/bell\"\n",
		"shop/.git/x":                            "", "shop/go.mod": "module example.org/shop\nrequire example.org/bell v1.0.0\n",
		"twin/.git/x": "", "twin/go.mod": "module example.org/twin\nrequire example.org/bell v1.0.0\n",
	})
	t.Setenv("GOMODCACHE", filepath.Join(work, "mod"))
	publisher := newTestMachine(t)
	publisher.run(0, "", "index", "build", filepath.Join(work, "docs"), "--name", "bells", "-q")
	key := ""
	for line := range strings.Lines(publisher.run(0, "", "pack", "key", "new", "docs.example.com")) {
		if strings.HasPrefix(line, "docs.example.com+") {
			key = strings.TrimSpace(line)
		}
	}
	pack := filepath.Join(work, "bells.dspack")
	publisher.run(0, "", "pack", "make", "bells", "--license", "MIT", "--attribution", "Bells", "--version", "1", "-o", pack, "-q")

	entry := []string{"--keywords", "widget", "--urls", "https://widgets.test/", "--description", "Widgets"}
	const write = `Write this change to .*\? \[Y/n\]`
	for _, tt := range []struct {
		name     string
		args     []string
		before   []string // a command that prepares the machine
		question string   // at a terminal; the answer is no
		builds   bool     // before the question
	}{
		{name: "folder", args: append([]string{"setup", "widget", "docs", "--no-install"}, entry...), question: write, builds: true},
		{name: "site", args: append([]string{"setup", "widget", site.URL + "/docs/", "--no-install"}, entry...), question: write, builds: true},
		{name: "database", args: append([]string{"setup", "widget", "made", "--no-install"}, entry...), before: []string{"index", "build", "docs", "--name", "made", "-q"}, question: write, builds: true},
		{name: "recipe", args: []string{"setup", "./bell.toml", "--no-install"}, question: write, builds: true},
		{name: "pack", args: []string{"pack", "add", pack, "--key", key}, question: write, builds: true},
		{name: "project", args: []string{"setup", "--project", "shop", "--offline", "--no-install"}, question: `Build 1 database for .*shop\? \[Y/n\]`},
		{name: "project with databases", args: []string{"setup", "--project", "twin", "--offline", "--no-install"},
			before: []string{"setup", "--project", "shop", "--offline", "--no-install", "--yes"}, question: `Add 1 database to the project .*twin\? \[Y/n\]`},
		{name: "server", args: []string{"setup", "--server", site.URL, "--no-install"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			machine := func() (string, func(args ...string) (string, int)) {
				home := t.TempDir()
				run := func(args ...string) (string, int) {
					cmd := exec.CommandContext(t.Context(), "docsearch", args...)
					cmd.Dir, cmd.Env = work, atHome(home)
					out, _ := cmd.CombinedOutput()
					return string(out), cmd.ProcessState.ExitCode()
				}
				if tt.before != nil {
					if out, code := run(tt.before...); code != exitOK {
						t.Fatal(out)
					}
				}
				return home, run
			}
			home, run := machine()
			before, asked := filesBelow(t, home), requests.Load()
			out, code := run(tt.args...)
			if code != exitFailure || !strings.Contains(out, "stdin is not a terminal; nothing was downloaded or written\nhint: pass --yes to agree\n") {
				t.Errorf("without a terminal: exit code %d\n%s", code, out)
			}
			if now := filesBelow(t, home); now != before || requests.Load() != asked {
				t.Errorf("without a terminal: %d requests; the files\n%s\nhave become\n%s", requests.Load()-asked, before, now)
			}
			if tt.question == "" {
				return
			}
			if out, code := run(append(tt.args, "--yes")...); code != exitOK || filesBelow(t, home) == before {
				t.Errorf("with --yes: exit code %d\n%s", code, out)
			}

			home, _ = machine()
			before = filesBelow(t, home)
			d := startAtTerminal(t, home, work, tt.args...)
			d.answer(tt.question, "n\n")
			if out, code := d.wait(); code != exitFailure {
				t.Errorf("declined: exit code %d\n%s", code, out)
			}
			if now := filesBelow(t, home); !tt.builds && now != before {
				t.Errorf("declined: the files\n%s\nhave become\n%s", before, now)
			}
			if _, err := os.Stat(filepath.Join(home, ".claude", "hooks", "docsearch-config.json")); err == nil {
				t.Error("declined: the config exists")
			}
		})
	}
}

// filesBelow lists the files below a folder with their sizes, without the cache.
func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == ".cache" {
			return fs.SkipDir
		}
		if st, err := e.Info(); err == nil && !e.IsDir() {
			fmt.Fprintf(&list, "%s %d\n", path, st.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}
