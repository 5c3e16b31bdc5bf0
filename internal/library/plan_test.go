package library

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A folder that may not be read is not said to be no database.
func TestNotReplaceable(t *testing.T) {
	dir := t.TempDir()
	manifest := generation.ManifestPath(dir)
	if err := errors.Join(os.Mkdir(filepath.Dir(manifest), 0o755), os.WriteFile(manifest, []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if got := usererror.Message(notReplaceable(dir, "--out")); !strings.Contains(got, "not a docsearch database") {
		t.Errorf("got %q", got)
	}
	defer func() { atomicfile.Fault = nil }()
	atomicfile.Fault = func(string, string) error { return syscall.EACCES }
	if got, want := usererror.Message(notReplaceable(dir, "--out")), "cannot read "+dir+": permission denied"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
