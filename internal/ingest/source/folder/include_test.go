package folder

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/include"
)

// Included files must be within the source and not excluded.
func TestIncludedFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.txt")
	for name, text := range map[string]string{
		outside:                             "outside",
		"source/mkdocs.yml":                 "",
		"source/top.txt":                    "top",
		"source/docs_src/a.py":              "a",
		"source/docs_src/.hidden.py":        "hidden",
		"source/docs_src/ignored.py":        "ignored",
		"source/docs_src/excluded.py":       "excluded",
		"source/docs_src/id_rsa":            "secret",
		"source/docs_src/binary.bin":        "a\x00b",
		"source/.gitignore":                 "ignored.py\n",
		"source/docs/en/mkdocs.yml":         "docs_dir: docs\n",
		"source/docs/en/both.txt":           "of mkdocs.yml",
		"source/docs/en/docs/both.txt":      "of the page",
		"source/docs/en/docs/page.md":       "",
		"source/docs/en/docs/sub/own.txt":   "own",
		"source/docs/en/docs/sub/page.md":   "",
		"source/docs/en/docs/sub/large.txt": strings.Repeat("x", include.MaxIncluded+1),
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"out.txt": outside, "in.txt": "top.txt"} {
			if err := os.Symlink(to, filepath.Join(dir, "source", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "source"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	filter, err := NewFilter(Options{Include: []string{"*.md"}, Exclude: []string{"excluded.*"}})
	if err != nil {
		t.Fatal(err)
	}
	stock := Reader{Root: root, Filter: filter}
	for _, test := range []struct{ path, want string }{
		{"../../docs_src/a.py", "a"},
		{`..\..\docs_src\a.py`, "a"},
		{"docs_src/a.py", "a"},
		{"./docs_src/../top.txt", "top"},
		{"both.txt", "of mkdocs.yml"},
		{"own.txt", "own"},
		{"in.txt", "top"},
		{"docs_src/missing.py", ""},
		{"docs_src", ""},
		{"docs_src/.hidden.py", ""},
		{"docs_src/ignored.py", ""},
		{"docs_src/excluded.py", ""},
		{"docs_src/id_rsa", ""},
		{"docs_src/binary.bin", ""},
		{"large.txt", ""},
		{"out.txt", ""},
		{"../outside.txt", ""},
		{"../../../../outside.txt", ""},
		{"../../../../../../../../etc/hosts", ""},
		{outside, ""},
		{".", ""},
		{"a\x00b", ""},
	} {
		t.Run(test.path, func(t *testing.T) {
			if runtime.GOOS == "windows" && test.path == "in.txt" {
				t.Skip("no symbolic links")
			}
			page := include.Expand(included{stock}, "docs/en/docs/sub/page.md", []string{`--8<-- "` + test.path + `"`})
			if got := strings.Join(page.Lines, "\n"); got != test.want || (len(page.Missing) == 0) != (test.want != "") {
				t.Errorf("got %q, missing %q; want %q", got, page.Missing, test.want)
			}
		})
	}
}

// An API description depends on the files to which it refers, which are within the source.
func TestReferredFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"source/api.yaml": "openapi: 3.0.0\ninfo: {title: A}\npaths: {/a: {$ref: a.yaml}, /b: {$ref: ../b.yaml}}\n",
		"source/a.yaml":   "get: {summary: Inside}\n",
		"b.yaml":          "get: {summary: Outside}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "source"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := Reader{Root: root}
	it := source.Item{Name: "api.yaml"}
	data, err := s.Load(&it)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := s.Parse(t.Context(), data, &it)
	if err != nil || !slices.Equal(doc.Includes, []string{"a.yaml", "../b.yaml"}) || doc.IncludesDigest != s.IncludesDigest(doc.Includes) {
		t.Fatalf("includes %q, %v", doc.Includes, err)
	}
	if text := strings.Join(doc.Lines, "\n"); !strings.Contains(text, "Inside") || strings.Contains(text, "Outside") || len(doc.Notes) != 1 {
		t.Errorf("%s\n%v", text, doc.Notes)
	}
}

// A text file that is reStructuredText includes files as an .rst file does.
func TestIncludesOfText(t *testing.T) {
	dir := t.TempDir()
	const page = "=====\nTitle\n=====\n\n.. include:: part.inc\n\n.. note:: Careful.\n\n.. code-block:: c\n\n   boil();\n\nSee :ref:`boil`.\n"
	for name, text := range map[string]string{"a.txt": page, "part.inc": "Included text.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	doc, err := Reader{Root: root}.Parse(t.Context(), []byte(page), &source.Item{Name: "a.txt"})
	if text := strings.Join(doc.Lines, "\n"); err != nil || !strings.Contains(text, "Included text.") || !slices.Equal(doc.Includes, []string{"part.inc"}) {
		t.Errorf("%v, includes %q\n%s", err, doc.Includes, text)
	}
}
