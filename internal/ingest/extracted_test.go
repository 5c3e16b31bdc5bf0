package ingest

import (
	"archive/zip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// prepareCopy returns the location and terms of each passage of a copy.
func prepareCopy(t *testing.T, location, kind, database string) (passages []string, skipped []generation.Skipped) {
	t.Helper()
	if got := ExtractedKind(location); got != kind {
		t.Fatalf("%s is of kind %q, want %q", location, got, kind)
	}
	c, err := NewExtracted(kind, location, database, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	prepared, err := c.Prepare(t.Context(), confined.In(dir), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if prepared.Source.Kind != kind || prepared.Source.Location != location || (len(prepared.Source.Commit) >= 40) != (kind == KindGit) {
		t.Errorf("source %+v", prepared.Source)
	}
	data, err := os.ReadFile(filepath.Join(dir, passage.ShardName(0)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		p, err := passage.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		passages = append(passages, fmt.Sprintf("%s %s", p.Locator(), p.Terms()))
	}
	skipped, err = ReadSkipped(generation.Generation{Dir: confined.In(dir), Manifest: generation.Manifest{Skipped: prepared.Skipped}})
	if err != nil {
		t.Fatal(err)
	}
	return passages, skipped
}

func zipped(t *testing.T, path string, files map[string]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, content := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCopyOfArchive(t *testing.T) {
	dir := t.TempDir()
	path, database := filepath.Join(dir, "kettle-2.0.zip"), filepath.Join(dir, "db")
	zipped(t, path, map[string]string{"kettle-2.0/docs/a.md": "# A\n", "kettle-2.0/b.png": "x", "kettle-2.0/../../evil.md": "# E\n"})
	passages, skipped := prepareCopy(t, path, KindArchive, database)
	if diff := cmp.Diff([]string{"docs/a.md:1 []"}, passages); diff != "" {
		t.Errorf("passages (-want +got)\n%s", diff)
	}
	if len(skipped) != 2 {
		t.Errorf("skipped %v", skipped)
	}
	// A new archive replaces the old one; a corrupt one does not.
	zipped(t, path, map[string]string{"kettle-2.1/c.md": "# C\n"})
	if passages, _ = prepareCopy(t, path, KindArchive, database); len(passages) != 1 || passages[0] != "c.md:1 []" {
		t.Errorf("passages of a new archive %v", passages)
	}
	if err := os.WriteFile(path, []byte("PK"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := NewExtracted(KindArchive, path, database, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prepare(t.Context(), confined.In(t.TempDir()), nil, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged archive: %v", err)
	}
	if _, err := os.Stat(filepath.Join(database, MirrorName, copyName, "kettle-2.1", "c.md")); err != nil {
		t.Errorf("the copy of the whole archive is gone: %v", err)
	}
	if err := RemoveExtracted(database); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(database, MirrorName)); err == nil {
		t.Error("the copy is still there")
	}
	ingesttest.WriteFiles(t, database, map[string]string{MirrorName + "/mine.md": "x"})
	if _, err := c.Prepare(t.Context(), confined.In(t.TempDir()), nil, nil); err == nil || !strings.Contains(err.Error(), "mine.md") {
		t.Errorf("over what is not docsearch's: %v", err)
	}
	if ExtractedName(path) != "kettle-2.0" {
		t.Errorf("name %q", ExtractedName(path))
	}
}

func TestCopyOfDocsets(t *testing.T) {
	dir := t.TempDir()
	dash, dev := filepath.Join(dir, "A.docset"), filepath.Join(dir, "dev")
	ingesttest.WriteFiles(t, dash, map[string]string{"Contents/Resources/Documents/a.html": "<title>A</title><h1 id=a>A</h1><p>text"})
	ingesttest.WriteFiles(t, dev, map[string]string{
		"index.json": `{"entries": [{"name": "F.f()", "path": "sub/p#f"}]}`,
		"db.json":    `{"sub/p": "<h1>P</h1><p>text<h2 id=\"f\">f</h2><p>more"}`,
	})
	if passages, _ := prepareCopy(t, dash, KindDocset, filepath.Join(dir, "db1")); !cmp.Equal(passages, []string{"a.html#a []"}) {
		t.Errorf("passages of Dash's %v", passages)
	}
	if passages, _ := prepareCopy(t, dev, KindDocset, filepath.Join(dir, "db2")); !cmp.Equal(passages, []string{"sub/p.html#f [F.f()]"}) {
		t.Errorf("passages of DevDocs' %v", passages)
	}
	path := filepath.Join(dir, "go.zip")
	zipped(t, path, map[string]string{"go/index.json": `{"entries": [{"name": "x", "path": "p"}]}`, "go/db.json": `{"p": "<h1>P</h1><p>text"}`})
	if passages, _ := prepareCopy(t, path, KindArchive, filepath.Join(dir, "db3")); !cmp.Equal(passages, []string{"p.html [x]"}) {
		t.Errorf("passages of an archive of DevDocs' %v", passages)
	}
	if ExtractedName(dash) != "A" {
		t.Errorf("name %q", ExtractedName(dash))
	}
}

func TestCopyOfRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir, upstream := t.TempDir(), filepath.Join(t.TempDir(), "kettle")
	ingesttest.WriteFiles(t, upstream, map[string]string{"docs/a.md": "# A\n", "b.py": "def f():\n    pass\n", "c.png": "x"})
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = upstream
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	slashed := filepath.ToSlash(upstream)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	passages, _ := prepareCopy(t, "file://"+slashed, KindGit, filepath.Join(dir, "db"))
	if diff := cmp.Diff([]string{"b.py:1 [f]", "docs/a.md:1 []"}, passages); diff != "" {
		t.Errorf("passages (-want +got)\n%s", diff)
	}
	if ExtractedName("file://"+slashed) != "kettle" {
		t.Errorf("name %q", ExtractedName("file://"+slashed))
	}
}

// Files that pages include are fetched, even if the patterns do not include them.
func TestCopyOfIncludedFiles(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir, upstream := t.TempDir(), filepath.Join(t.TempDir(), "kettle")
	ingesttest.WriteFiles(t, upstream, map[string]string{
		"docs/a.rst":             "A\n=\n\n.. autofunction:: kettle.boil\n\n.. literalinclude:: ../x.tf\n\n.. literalinclude:: ../secret/y.tf\n",
		"src/kettle/__init__.py": "from .heat import boil\n",
		"src/kettle/heat.py":     "def boil(water):\n    \"\"\"Boils it.\"\"\"\n",
		"src/kettle/other.py":    "x\n",
		"x.tf":                   "resource\n",
		"secret/y.tf":            "excluded\n",
	})
	commit := func() {
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir = upstream
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %s", args, out)
			}
		}
	}
	commit()
	slashed := filepath.ToSlash(upstream)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	c, err := NewExtracted(KindGit, "file://"+slashed, filepath.Join(dir, "db"), folder.Options{Include: []string{"docs"}, Exclude: []string{"secret"}})
	if err != nil {
		t.Fatal(err)
	}
	holds := func(g *preparedGeneration, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(string(g.lines), text) {
				t.Errorf("no %q in\n%s", text, g.lines)
			}
		}
		if strings.Contains(string(g.lines), "excluded") {
			t.Errorf("an excluded file in\n%s", g.lines)
		}
	}
	first := generate(t, c, nil)
	holds(first, "boil(water)", "Boils it.", "resource")
	if generate(t, c, &first.Generation) != nil {
		t.Error("nothing has changed, and all is read again")
	}
	ingesttest.WriteFiles(t, upstream, map[string]string{"src/kettle/heat.py": "def boil(water):\n    \"\"\"Heats it.\"\"\"\n"})
	commit()
	holds(generate(t, c, &first.Generation), "Heats it.", "resource")
}

// Archives and API descriptions at a URL are downloaded, and downloaded again for an
// update.
func TestCopyOfDownload(t *testing.T) {
	dir := t.TempDir()
	zipped(t, filepath.Join(dir, "kettle-2.0.zip"), map[string]string{"kettle-2.0/a.md": "# A\n"})
	ingesttest.WriteFiles(t, dir, map[string]string{
		"openapi.json": `{"openapi": "3.0.0", "info": {"title": "Kettle"}, "paths": {"/boil": {"post": {"operationId": "boil"}}}}`,
		"broken.zip":   "<html>Please log in",
	})
	var served []string
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served = append(served, r.URL.Path)
		if name, ok := strings.CutPrefix(r.URL.Path, "/latest/"); ok {
			http.Redirect(w, r, "/"+name, http.StatusFound)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	database := filepath.Join(dir, "db")
	url := server.URL + "/latest/kettle-2.0.zip?download=1"
	for range 2 {
		if passages, _ := prepareCopy(t, url, KindArchive, database); !cmp.Equal(passages, []string{"a.md:1 []"}) {
			t.Errorf("passages of an archive %v", passages)
		}
	}
	if want := []string{"/latest/kettle-2.0.zip", "/kettle-2.0.zip"}; !cmp.Equal(served, append(want, want...)) {
		t.Errorf("served %v", served)
	}
	if name := ExtractedName(url); name != "kettle-2.0" {
		t.Errorf("name %q", name)
	}
	passages, _ := prepareCopy(t, server.URL+"/openapi.json", KindArchive, filepath.Join(dir, "api"))
	if !cmp.Equal(passages, []string{"openapi.json:1 [boil POST /boil]"}) {
		t.Errorf("passages of an API %q", passages)
	}
	for name, want := range map[string]string{"broken.zip": "not a valid zip file", "none.zip": "404 Not Found"} {
		c, err := NewExtracted(KindArchive, server.URL+"/"+name, database, folder.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Prepare(t.Context(), confined.In(t.TempDir()), nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(database, MirrorName, copyName, "kettle-2.0", "a.md")); err != nil {
		t.Errorf("a failed download removed the copy: %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(database, MirrorName))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	for location, want := range map[string]string{
		"https://petstore.example.com/api/v3/openapi.json": "example",
		"https://example.com/specs/billing.yaml":           "billing",
		"https://example.com/guide/":                       "",
	} {
		if kind := ExtractedKind(location); (kind == KindArchive) != (want != "") || want != "" && ExtractedName(location) != want {
			t.Errorf("%s: kind %q, name %q", location, kind, ExtractedName(location))
		}
	}
}
