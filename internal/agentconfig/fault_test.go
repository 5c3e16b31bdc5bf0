package agentconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// Whichever file operation of a change fails, the file has its old or its new bytes, the
// old ones are in a backup before the file has the new ones, and the next attempt leaves
// nothing else.
func TestEachOperationOfAChangeFails(t *testing.T) {
	const before, after = "{\"a\": 1}\n", "{\"a\": 1}\n# docsearch\n"
	for n := 1; ; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "settings.json")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		// A killed install has left these.
		for _, name := range []string{".settings.json.tmp-1-a", ".settings.json.before-docsearch.tmp-1-a"} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		change := &Change{Path: path, newMode: 0o600, edit: edit{apply: func(data []byte) ([]byte, error) {
			if bytes.HasSuffix(data, []byte("# docsearch\n")) {
				return data, nil
			}
			return append(bytes.Clone(data), "# docsearch\n"...), nil
		}}}
		done := 0
		atomicfile.Fault = func(string, string) error {
			if done++; done == n {
				return syscall.EIO
			}
			return nil
		}
		_, err := change.Apply()
		atomicfile.Fault = nil
		want := before
		if err == nil {
			want = after
		}
		if data, readErr := os.ReadFile(path); readErr != nil || string(data) != want {
			t.Errorf("operation %d failed with %v: the file has %q, %v", n, err, data, readErr)
		}
		if _, err := change.Apply(); err != nil {
			t.Errorf("operation %d failed: the next attempt failed with %v", n, err)
		}
		for path, want := range map[string]string{path: after, path + ".before-docsearch": before} {
			if data, err := os.ReadFile(path); err != nil || string(data) != want {
				t.Errorf("operation %d failed: %s has %q, %v", n, path, data, err)
			}
		}
		if done < n {
			// Without a fault, the remains of the killed install are gone as well.
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 2 {
				t.Errorf("left %v, %v", entries, err)
			}
			break
		}
	}
}

// An uninstall that cannot read the backup does not guess what the file was.
func TestUninstallNeedsTheBackup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if err := os.WriteFile(path, []byte("a\nhook\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".before-docsearch", 0o700); err != nil { // not readable as a file
		t.Fatal(err)
	}
	change := &Change{Path: path, edit: edit{
		apply: func(data []byte) ([]byte, error) { return bytes.TrimSuffix(data, []byte("hook\n")), nil },
		redo: func([]byte) func([]byte) ([]byte, error) {
			return func(data []byte) ([]byte, error) { return append(bytes.Clone(data), "hook\n"...), nil }
		},
	}}
	if _, err := change.Apply(); err == nil || !strings.Contains(err.Error(), "before-docsearch") {
		t.Errorf("error %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "a\nhook\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
}
