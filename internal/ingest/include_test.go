package ingest

import (
	"strings"
	"testing"

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
	if len(first.skipped) > 2 {
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

// All lines of a file may be removed.
func TestAllLinesRemoved(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "--8<-- \"missing\"\n", "b.mdx": "import x from 'y'\n", "c.md": "# C\n\nText.\n"})
	if passages, _ := prepare(t, dir); len(passages) != 1 || passages[0].Path != "c.md" {
		t.Errorf("passages: %+v", passages)
	}
}
