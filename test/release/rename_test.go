package release

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The program still builds after its module has been renamed, and no file contains
// the old path.
func TestRenameModule(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: bash may be the one of another system there")
	}
	for _, tool := range []string{"bash", "git", "perl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %s not found", tool)
		}
	}
	old := strings.TrimSpace(run(t, root, "go", "list", "-m"))
	dir := copyRepository(t)
	const renamed = "git.example.org/acme/local-docs"
	run(t, dir, "bash", ".ci/rename-module", renamed)

	if got := strings.TrimSpace(run(t, dir, "go", "list", "-m")); got != renamed {
		t.Errorf("the module is %s, want %s", got, renamed)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || !d.Type().IsRegular() {
			if err == nil && d.IsDir() && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), old) {
			t.Errorf("%s contains %s", path, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "plugin", "README.md"))
	if err != nil || !strings.Contains(string(readme), "marketplace acme/local-docs") {
		t.Errorf("plugin/README.md: %v, want the new marketplace", err)
	}
	// All imports are found. Only the nightly tests compile all packages again under their
	// new names.
	run(t, dir, "go", "list", "-deps", "-test", "./...")
	if os.Getenv("DOCSEARCH_NIGHTLY") != "" {
		run(t, dir, "go", "build", "-buildvcs=false", "-o", filepath.Join(t.TempDir(), "docsearch"), "./cmd/docsearch")
	}

	cmd := exec.Command("bash", ".ci/rename-module", "local-docs")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `invalid MODULE "local-docs"`) {
		t.Errorf("an invalid path: %v, %s", err, out)
	}
}

// copyRepository copies the tracked files to a new repository.
func copyRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for file := range strings.SplitSeq(strings.TrimSuffix(run(t, root, "git", "ls-files", "-z"), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if os.IsNotExist(err) {
			continue // deleted, but not in the index yet
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "init", "--quiet")
	run(t, dir, "git", "add", ".")
	return dir
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr)
	}
	return string(out)
}
