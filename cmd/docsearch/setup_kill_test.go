package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const otherEntry = `{"databases": [
  {"keywords": ["other"], "path": "/nowhere",   "description": "Another", "mode": "off"}]}
`

// A setup killed at any time leaves the database and the user's files in their
// previous or their new state, and the next setup succeeds.
func TestKilledSetup(t *testing.T) {
	for _, kind := range []string{"folder", "site"} {
		t.Run(kind, func(t *testing.T) {
			b := folderBuilder(t)
			home := t.TempDir()
			s := &killedSetup{builder: b, source: b.source, files: map[string]*userFile{
				filepath.Join(home, "config.json"):              {before: otherEntry},
				filepath.Join(home, ".claude", "settings.json"): {},
				filepath.Join(home, ".claude.json"):             {before: "{\"numStartups\": 3}\n"},
			}}
			if kind == "site" {
				server := httptest.NewServer(http.HandlerFunc(s.serve))
				defer server.Close()
				s.source = server.URL + "/docs/"
			}
			b.setHome(t, home)

			b.writeEdition(t, 0)
			s.reset(t)
			took := s.complete(t, 0)
			for path, f := range s.files {
				f.after = s.read(t, path)
			}
			kills := newKillTimes(t, 25)
			old := 0
			for i := range kills.rounds {
				s.reset(t)
				b.writeEdition(t, 1-old)
				cmd := s.command(t)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(kills.after(i, took))
				cmd.Process.Kill() // fails if it has exited
				cmd.Wait()
				b.check(t)
				b.checkCommands(t)
				s.check(t)
				if kind == "site" {
					// The downloaded pages are new, but the database is still the previous
					// one.
					if err := os.RemoveAll(b.dir); err != nil {
						t.Fatal(err)
					}
				}
				took = (3*took + s.complete(t, 1-old)) / 4
				for path, f := range s.files {
					if got := s.read(t, path); got != f.after {
						t.Fatalf("%s has become\n%s\nwant\n%s", path, got, f.after)
					}
				}
				old = 1 - old
			}
			b.checkNoLeftovers(t)
		})
	}
}

type killedSetup struct {
	*builder
	source string
	files  map[string]*userFile
}

// A userFile is a file that setup changes; empty if it does not exist.
type userFile struct{ before, after string }

// serve serves the folder as a site.
func (s *killedSetup) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/docs/sitemap.xml" && r.URL.Path != "/sitemap.xml" {
		http.StripPrefix("/docs/", http.FileServer(http.Dir(s.builder.source))).ServeHTTP(w, r)
		return
	}
	entries, _ := os.ReadDir(s.builder.source)
	fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, e := range entries {
		fmt.Fprintf(w, "<url><loc>http://%s/docs/%s</loc></url>", r.Host, e.Name())
	}
	fmt.Fprint(w, `</urlset>`)
}

func (s *killedSetup) command(t *testing.T) *exec.Cmd {
	return setupProcess(t, s.builder, "gadget", s.source, "--name", "docs", "--install")
}

// setupProcess returns a command that runs setup.
func setupProcess(t *testing.T, b *builder, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), b.program, append([]string{"setup", "--yes"}, args...)...)
	cmd.Env = b.env
	return cmd
}

// setHome sets the home of the builder's processes and its config.
func (b *builder) setHome(t *testing.T, home string) {
	temp := t.TempDir() // temporary files of killed processes
	b.env = append(b.env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp, "HOME="+home, "USERPROFILE="+home, "NO_PROXY=127.0.0.1",
		"DOCSEARCH_CONFIG_PATH="+filepath.Join(home, "config.json"), "DOCSEARCH_CACHE_DIR="+filepath.Join(home, "cache"), "CLAUDE_CONFIG_DIR=")
}

// complete runs the setup to its end.
func (s *killedSetup) complete(t *testing.T, edition int) time.Duration {
	t.Helper()
	began := time.Now()
	out, err := s.command(t).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nThe hook denied it in ") {
		t.Fatalf("setup: %v\n%s", err, out)
	}
	took := time.Since(began)
	if got := s.builder.check(t); got != edition {
		t.Fatalf("edition %d, want %d\n%s", got, edition, out)
	}
	return took
}

// reset restores the user's files.
func (s *killedSetup) reset(t *testing.T) {
	t.Helper()
	for path, f := range s.files {
		os.Remove(path)
		if f.before == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// check checks that each of the user's files has one of its two states.
func (s *killedSetup) check(t *testing.T) {
	t.Helper()
	for path, f := range s.files {
		if got := s.read(t, path); got != f.before && got != f.after {
			t.Fatalf("%s has become\n%s", path, got)
		}
	}
}

func (s *killedSetup) read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
