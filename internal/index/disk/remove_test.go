package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	if err := Remove(dir); !errors.Is(err, ErrNoIndex) {
		t.Fatalf("nothing there: %v, want ErrNoIndex", err)
	}
	own := filepath.Join(dir, "documents.leann.passages.jsonl")
	if err := os.WriteFile(own, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); !errors.Is(err, ErrBusy) {
		t.Fatalf("while a build is at work: %v, want ErrBusy", err)
	}
	if err := b.Commit(Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, Folder, "g000099"), 0o755); err != nil {
		t.Fatal(err) // left behind by a build that died
	}
	if err := os.WriteFile(filepath.Join(dir, Folder, ".manifest.json.tmp-1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, Folder)); err == nil {
		t.Error("the folder is still there")
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("the passages are gone: %v", err)
	}
}

func TestRemoveLeavesWhatIsNotOurs(t *testing.T) {
	dir := t.TempDir()
	b, err := Begin(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(Manifest{}, nil); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, Folder, "notes.txt")
	if err := os.WriteFile(notes, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Errorf("somebody's file is gone: %v", err)
	}
	if _, err := Current(dir); !errors.Is(err, ErrNoIndex) {
		t.Errorf("Current: %v, want ErrNoIndex", err)
	}
}
