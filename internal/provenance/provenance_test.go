package provenance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/file/filetest"
)

func TestSeal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", ".key")
	if k := Load(path); k.Seal(Source{}) != "" || k.Sealed(Source{}, "") {
		t.Error("a key that is not there sealed something")
	}
	k, err := Make(path)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", st, err)
	}
	source := Source{"folder", "/docs", json.RawMessage(`{"include":["*.md"],"private":true}`)}
	seal := k.Seal(source)
	// The manifest formats the options differently.
	source.Options = json.RawMessage("{\n  \"include\": [\"*.md\"],\n  \"private\": true\n}")
	if again := Load(path); !again.Sealed(source, seal) {
		t.Error("the key does not know its seal")
	}
	for name, other := range map[string]Source{
		"kind":       {"site", source.Location, source.Options},
		"location":   {source.Kind, "/home", source.Options},
		"options":    {source.Kind, source.Location, json.RawMessage(`{}`)},
		"no options": {source.Kind, source.Location, nil},
		"moved":      {"folde", "r/docs", source.Options},
		"not JSON":   {source.Kind, source.Location, json.RawMessage(`{`)},
	} {
		if k.Sealed(other, seal) || k.Sealed(other, "") {
			t.Errorf("%s: the seal is believed for another source", name)
		}
	}
	stranger, err := Make(filepath.Join(t.TempDir(), ".key"))
	if err != nil {
		t.Fatal(err)
	}
	if stranger.Sealed(source, seal) {
		t.Error("another user's key knows the seal")
	}
}

// Concurrent builds get the same key.
func TestMakeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".key")
	seals := make([]string, 16)
	var all sync.WaitGroup
	for i := range seals {
		all.Go(func() {
			k, err := Make(path)
			if err != nil {
				t.Error(err)
			}
			seals[i] = k.Seal(Source{Kind: "folder"})
		})
	}
	all.Wait()
	for _, s := range seals {
		if s == "" || s != seals[0] {
			t.Fatalf("seals %q", seals)
		}
	}
}

// A file that is not a key is replaced, but never through a link.
func TestMakeReplacesInvalidKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".key")
	if err := os.WriteFile(path, []byte("not a key, and longer than one would be if it were one: 0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := Make(path)
	if err != nil || !Load(path).Sealed(Source{}, k.Seal(Source{})) {
		t.Errorf("%v", err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), ".key")
	filetest.Symlink(t, victim, link)
	if _, err := Make(link); err == nil {
		t.Error("made a key through a link")
	}
	if st, err := os.Stat(victim); err != nil || st.Size() != 0 {
		t.Errorf("wrote through a link: %v, %v", st, err)
	}
}
