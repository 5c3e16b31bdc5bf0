package execpath

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	name := "kettle"
	if runtime.GOOS == "windows" {
		name = "kettle.exe"
	}
	put := func(folder string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put(".", 0o755) // of the working directory
	put("relative", 0o755)
	put("refused", 0o644)
	good := put("good", 0o755)
	at := func(names ...string) string {
		return strings.Join(names, string(filepath.ListSeparator))
	}
	for _, tt := range []struct{ path, want string }{
		{at(filepath.Dir(good)), good},
		{at("", ".", "relative", filepath.Join(dir, "absent"), filepath.Dir(good)), good},
		{at(".", "", "relative"), ""},
		{"", ""},
	} {
		t.Setenv("PATH", tt.path)
		got, err := Find("kettle")
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("PATH %q: %q, %v, want %q", tt.path, got, err, tt.want)
		}
		if tt.want == "" && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("PATH %q: %v, want that it is not found", tt.path, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	refused := filepath.Join(dir, "refused")
	t.Setenv("PATH", at(refused, filepath.Dir(good)))
	if got, err := Find("kettle"); got != good {
		t.Errorf("after a file that cannot run: %q, %v", got, err)
	}
	t.Setenv("PATH", refused)
	if _, err := Find("kettle"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a file that cannot run: %v", err)
	}
}
