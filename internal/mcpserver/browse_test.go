package mcpserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// Pages for people of a team contain no folder of the server.
func TestBrowseHidesFolders(t *testing.T) {
	dir, source := t.TempDir(), filepath.Join(t.TempDir(), "secret-folder")
	var lines []byte
	for i := range 3 {
		p := passage.Passage{ID: fmt.Sprint("p", i), Path: filepath.Join(source, fmt.Sprint(i, ".md")), Text: "Text."}
		lines = p.AppendLine(lines)
	}
	if err := os.WriteFile(filepath.Join(dir, leann.PassagesName), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, shows := range []bool{true, false} {
		c := &Catalog{ShowPaths: shows, Entries: func(context.Context) []Entry { return []Entry{{Name: "notes", Path: dir}} }}
		t.Cleanup(c.Close)
		_, contents, err := c.Contents(t.Context(), "notes", "", 0, 9)
		if err != nil || len(contents.Pages) != 3 {
			t.Fatalf("%+v, %v", contents, err)
		}
		_, page, err := c.ReadPage(t.Context(), "notes", index.Ref{Name: "p1"}, 0, 9)
		if err != nil || page.Previous == nil || page.Next == nil {
			t.Fatalf("%+v, %v", page, err)
		}
		if got := fmt.Sprintf("%+v %+v %+v", *contents, *page.Previous, *page.Next); strings.Contains(got, "secret-folder") != shows {
			t.Errorf("shows paths: %v: %s", shows, got)
		}
	}
}
