package leann

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRegisteredIndexes(t *testing.T) {
	home := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := RegisteredIndexes(home); err != nil || len(all) > 0 {
		t.Fatalf("without a list: got %v, %v", all, err)
	}
	for _, path := range []string{
		"widgets/.leann/indexes/gadgets/documents.leann.meta.json",
		"widgets/.leann/indexes/.gadgets.rebuild-1f/documents.leann.meta.json", // a rebuild that was interrupted
		"widgets/.leann/indexes/empty/documents.index",
		"widgets/data/mail/pages.leann.meta.json", // built by a program
		"widgets/node_modules/x/y.leann.meta.json",
		"widgets/1/2/3/4/5/6/deep.leann.meta.json",
		"elsewhere/.leann/indexes/x/documents.leann.meta.json", // not registered
	} {
		write(path, "{}")
	}
	projects, err := json.Marshal([]string{filepath.Join(home, "widgets"), filepath.Join(home, "gone"), "relative",
		filepath.Join(home, "widgets")})
	if err != nil {
		t.Fatal(err)
	}
	write(".leann/projects.json", string(projects))
	widgets := filepath.Join(home, "widgets")
	want := []Registered{
		{"gadgets", filepath.Join(widgets, ".leann", "indexes", "gadgets"), widgets},
		{"mail", filepath.Join(widgets, "data", "mail", "pages.leann.meta.json"), widgets},
	}
	if all, err := RegisteredIndexes(home); err != nil || !slices.Equal(all, want) {
		t.Errorf("got %v, %v, want %v", all, err, want)
	}
	write(".leann/projects.json", "{")
	if _, err := RegisteredIndexes(home); err == nil {
		t.Error("an invalid list: got no error")
	}
}
