package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// Passages contain the included files, and a change of an included file changes
// the page.
func TestIncludesInPassages(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"docs/a.md":  "# A\n\nRead it:\n\n{* src/a.txt *}\n\n{* src/b.txt *}\n\nEnd.\n",
		"src/a.txt":  "first\n",
		"docs/b.md":  "# B\n\nText.\n",
		"mkdocs.yml": "docs_dir: docs\n",
	})
	f, err := NewFolder(dir, folder.Options{Include: []string{"docs"}})
	if err != nil {
		t.Fatal(err)
	}
	first := generate(t, f, nil)
	for _, want := range []string{`"text": "# A\n\nRead it:\n\n` + "```txt\\nfirst\\n```", `"start_line": 1`, `"end_line": 9`} {
		if !strings.Contains(string(first.lines), want) {
			t.Errorf("no %s in\n%s", want, first.lines)
		}
	}
	if len(first.skipped) != 3 || first.skipped[2].Reason != "included files not found (1): src/b.txt" {
		t.Errorf("skipped: %v", first.skipped)
	}
	if generate(t, f, &first.Generation) != nil {
		t.Error("nothing has changed, and all is read again")
	}
	for _, change := range []map[string]string{{"src/a.txt": "other\n"}, {"src/b.txt": "more\n"}} {
		before := generate(t, f, nil)
		ingesttest.WriteFiles(t, dir, change)
		if why, err := Changed(t.Context(), before.Generation); err != nil || why == "" {
			t.Errorf("%v: %q, %v", change, why, err)
		}
		now := generate(t, f, &before.Generation)
		if now == nil || f.Changes() != (Changes{Changed: 1, Same: 1}) {
			t.Errorf("%v: %+v", change, f.Changes())
		}
	}
}

// An included file is no document of its own, unless a list of pages has it.
func TestPartsAreNoDocuments(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"src/SUMMARY.md":    "# Summary\n\n- [A](a.md)\n- [Listed](sub/listed.md)\n",
		"src/a.md":          "# A\n\nPage.\n\n{{#include part.md}}\n\n{{#include sub/listed.md}}\n",
		"src/part.md":       "Part.\n",
		"src/sub/listed.md": "Listed.\n",
		"src/x.md":          "X.\n\n{{#include y.md}}\n",
		"src/y.md":          "Y.\n\n{{#include x.md}}\n",
	})
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	documents := func(g *preparedGeneration) string {
		var names []string
		for line := range strings.Lines(string(g.lines)) {
			if name, _ := passage.DecodeLinks([]byte(line)); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	first := generate(t, f, nil)
	if got, want := documents(first), "src/a.md src/sub/listed.md src/x.md"; got != want {
		t.Errorf("documents %s, want %s", got, want)
	}
	if why, err := Changed(t.Context(), first.Generation); err != nil || why != "" {
		t.Errorf("nothing has changed: %q, %v", why, err)
	}
	if generate(t, f, &first.Generation) != nil {
		t.Error("nothing has changed, and all is read again")
	}
	ingesttest.WriteFiles(t, dir, map[string]string{"src/a.md": "# A\n\nNo part.\n"})
	if got, want := documents(generate(t, f, &first.Generation)), "src/a.md src/part.md src/sub/listed.md src/x.md"; got != want {
		t.Errorf("documents %s, want %s", got, want)
	}
}

// All lines of a file may be removed.
func TestAllLinesRemoved(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "--8<-- \"missing\"\n", "b.mdx": "import x from 'y'\n", "c.md": "# C\n\nText.\n"})
	if passages, _ := prepare(t, dir); len(passages) != 1 || passages[0].Path != "c.md" {
		t.Errorf("passages: %+v", passages)
	}
}
