package agentconfig

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "config.yaml")
	line := func(text string) func([]byte) ([]byte, error) {
		return func(data []byte) ([]byte, error) {
			if bytes.Contains(data, []byte(text)) {
				return data, nil
			}
			return append(bytes.Clone(data), text...), nil
		}
	}
	apply := func(text, wantBackup string) {
		t.Helper()
		c, err := Rewrite(path, "a line", line(text))
		if err != nil {
			t.Fatal(err)
		}
		backup, err := c.Apply()
		if err != nil {
			t.Fatal(err)
		}
		if backup != wantBackup {
			t.Errorf("the file as it was is in %q, want %q", backup, wantBackup)
		}
	}

	apply("a: 1\n", "")
	// Only the temporary files of a killed process are removed.
	left := filepath.Join(dir, "new", ".config.yaml.tmp-123")
	for _, path := range []string{left, left[:len(left)-len("tmp-123")] + "other"} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apply("b: 2\n", path+".before-docsearch")
	apply("b: 2\n", "")

	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".config.yaml.other config.yaml config.yaml.before-docsearch" {
		t.Errorf("files %s", got)
	}
	for path, want := range map[string]string{path: "a: 1\nb: 2\n", path + ".before-docsearch": "a: 1\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v; want %q", path, got, err, want)
		}
	}

	// An error leaves the file alone, and names it.
	no := errors.New("no")
	if _, err := Rewrite(path, "a line", func([]byte) ([]byte, error) { return nil, no }); !errors.Is(err, no) || !strings.Contains(err.Error(), path+": ") {
		t.Errorf("error %v", err)
	}
}

// A change applies to the current contents of the file, not to those at the time
// of planning.
func TestRewriteOfAChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	c, err := Rewrite(path, "an end", func(data []byte) ([]byte, error) { return append(bytes.Clone(data), "end"...), nil })
	if err != nil || c.None() {
		t.Fatalf("%v; no change: %t", err, c.None())
	}
	if err := os.WriteFile(path, []byte("begin "), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "begin end" {
		t.Errorf("%q, %v", got, err)
	}
}
