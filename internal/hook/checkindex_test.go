package hook

import (
	"os"
	"path/filepath"
	"testing"
)

// A path from the config leads to the database's folder in all forms that LEANN and
// docsearch accept.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"documents.leann.meta.json", "plain.meta.json", "p.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "documents.leann.meta.json", "documents.leann", "documents", "plain", "plain.meta.json", "p.jsonl"} {
		if got := Folder(filepath.Join(dir, name)); got != dir {
			t.Errorf("the folder of %q is %s, want %s", name, got, dir)
		}
	}
	if absent := filepath.Join(dir, "absent"); Folder(absent) != absent {
		t.Errorf("the folder of %s is %s", absent, Folder(absent))
	}
}
