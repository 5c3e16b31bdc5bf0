package hostile

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Whichever system call of a command fails, each file of the user has its old or its new
// contents and each database is valid. The same command then works and leaves what it
// leaves without a fault. Only the nightly tests fail every kind of system call. The others
// fail the two after which a program is tempted to undo what others already see.
func TestEachSystemCallFails(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands")
	}
	if err := exec.Command("strace", "-f", "-o", os.DevNull, "-e", "inject=fsync:error=EIO:when=1", "true").Run(); err != nil {
		t.Skipf("strace: %v", err)
	}
	calls := []string{"fsync", "renameat"}
	if nightly {
		calls = append(calls, "linkat", "unlinkat", "mkdirat", "fchmod", "ftruncate", "getdents64", "write", "openat")
	}
	build := []string{"index", "build", "docs", "--out", "db", "--quiet"}
	install := []string{"install", "--client", "claude"}
	for name, test := range map[string]struct {
		before  [][]string
		command []string
	}{
		"build":     {nil, build},
		"update":    {[][]string{build}, []string{"update", "db", "--quiet"}},
		"config":    {[][]string{build}, []string{"setup", "kettle", "db", "--yes", "--no-install"}},
		"install":   {nil, install},
		"uninstall": {[][]string{install}, []string{"uninstall", "--client", "claude"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulted(t, test.before, test.command)
			for _, call := range calls {
				for n := 1; f.fail(call, n); n++ {
				}
			}
			if f.faults == 0 {
				t.Error("no system call failed")
			}
		})
	}
}

// A faulted runs a command in the same state again and again.
type faulted struct {
	*sandbox
	saved    string // copy of the sandbox before the command
	command  []string
	old, new map[string]string // contents of the user's files before and after the command
	names    []string          // of all files afterwards
	faults   int
}

func newFaulted(t *testing.T, before [][]string, command []string) *faulted {
	f := &faulted{sandbox: newSandbox(t), saved: t.TempDir(), command: command}
	f.env = append(f.env, "GOMAXPROCS=1")
	f.write(filepath.Join(f.work, "docs", "kettle.md"), "# Kettle\n\nDescale the kettle with vinegar.\n")
	f.write(filepath.Join(f.home, ".claude", "settings.json"), "{\"model\": \"x\",\n \"hooks\": {}}\n")
	f.write(filepath.Join(f.home, ".claude", "hooks", "docsearch-config.json"), "{\"databases\": []}\n")
	for _, args := range before {
		f.must(f.docsearch(args...))
	}
	f.write(filepath.Join(f.work, "docs", "teapot.md"), "# Teapot\n\nRinse the teapot with water.\n")
	f.copyAll(f.home, filepath.Join(f.saved, "home"))
	f.copyAll(f.work, filepath.Join(f.saved, "work"))
	f.old, _ = f.files()
	f.must(f.docsearch(command...))
	f.new, f.names = f.files()
	return f
}

// copyAll copies a folder with the times of its files.
func (f *faulted) copyAll(from, to string) {
	f.Helper()
	if out, err := exec.CommandContext(f.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		f.Fatalf("%v\n%s", err, out)
	}
}

var generationName = regexp.MustCompile(`g0{5}\d`)

// files returns the contents of the user's files, and the names of all files except locks,
// caches and the key, which is random.
func (f *faulted) files() (contents map[string]string, names []string) {
	f.Helper()
	contents = map[string]string{}
	for _, root := range []string{f.home, f.work} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == ".cache", d.Name() == ".local", d.Name() == "docs":
				return fs.SkipDir
			case strings.HasSuffix(d.Name(), ".lock"), d.IsDir():
				return nil
			}
			if root == f.home {
				contents[path] = f.read(path)
			}
			names = append(names, generationName.ReplaceAllString(path, "g"))
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	return contents, names
}

// fail runs the command with a fault in the n-th call of each thread, and checks what it
// leaves. It returns false if there is no such call.
func (f *faulted) fail(call string, n int) bool {
	f.Helper()
	for _, dir := range []string{f.home, f.work} {
		if err := os.RemoveAll(dir); err != nil {
			f.Fatal(err)
		}
		f.copyAll(filepath.Join(f.saved, filepath.Base(dir)), dir)
	}
	trace := filepath.Join(f.saved, "trace")
	args := []string{"-f", "-o", trace, "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:error=EIO:when=%d", call, n), *binary}
	cmd := exec.CommandContext(f.Context(), "strace", append(args, f.command...)...)
	cmd.Env = f.env
	r := f.wait(f.Context(), cmd, "")
	traced, _, found := strings.Cut(f.read(trace), "(INJECTED)")
	if !found {
		return false
	}
	fault := traced[strings.LastIndexByte(traced, '\n')+1:]
	f.faults++
	report := func(format string, args ...any) {
		f.Helper()
		f.Errorf("%d: %s\nexit code %d, %s%s", n, fault, r.code, r.stderr, fmt.Sprintf(format, args...))
	}
	now, _ := f.files()
	for path := range f.new {
		if text, exists := now[path]; exists && text != f.old[path] && text != f.new[path] || !exists && f.old[path] != "" {
			report("%s has neither its old nor its new contents: %q", path, text)
		}
	}
	f.verify(report)
	if again := f.docsearch(f.command...); again.code != 0 {
		report("the next attempt fails: %s", again.stderr)
	}
	f.verify(report)
	last, names := f.files()
	if !maps.Equal(last, f.new) || !slices.Equal(names, f.names) {
		report("the next attempt leaves %q, want %q", names, f.names)
	}
	return true
}

// verify checks the database, if there is one.
func (f *faulted) verify(report func(string, ...any)) {
	f.Helper()
	manifest := filepath.Join("db", "docsearch", "manifest.json")
	if _, err := os.Stat(filepath.Join(f.work, manifest)); err != nil {
		if _, err := os.Stat(filepath.Join(f.saved, "work", manifest)); err == nil {
			report("the database is gone")
		}
		return
	}
	if r := f.docsearch("index", "verify", "db"); r.code != 0 {
		report("the database is not valid: %s%s", r.stdout, r.stderr)
	}
}
