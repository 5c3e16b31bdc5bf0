//go:build e2e && linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// docsearch works in a root folder that contains only a shell, the C library and, for the
// npm package, Node: demo, setup of a website, install, and a session of the real client.
func TestEmptyRoot(t *testing.T) {
	site := docsSite(t)
	for _, way := range []struct {
		name    string
		install func(*testing.T, *emptyRoot)
	}{
		{"npm", installWithNPM},
		{"archive", installArchive},
		{"deb", installDeb},
	} {
		t.Run(way.name, func(t *testing.T) {
			s := newSession(t, versions[0])
			r := newEmptyRoot(t)
			way.install(t, r)
			s.home, s.env, s.command = filepath.Join(r.dir, "root"), r.env, r.command
			s.write(t, s.settings(), settings)
			r.addProgram(t, filepath.Join(npm(t, claudePackage, s.version), "claude"), "/usr/local/bin/claude")

			if out := r.run(t, "docsearch", "demo"); !strings.Contains(out, "Found in local documentation") {
				t.Errorf("the demo printed\n%s", out)
			}
			r.run(t, "docsearch", "setup", "docsearch", site, "--yes", "--no-install")
			r.run(t, "docsearch", "install", "--client", "claude")
			m := newModel(t, searchingModel)
			checkSearch(t, s.version, "mcp__docsearch__search", m, s.ask(t, m, "How does a denied web search go through?"))
		})
	}
}

// docsSite serves docsearch's documentation on the loopback interface and returns its URL.
func docsSite(t *testing.T) string {
	t.Helper()
	docs := filepath.Join(root(t), "docs")
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(docs)))
	mux.HandleFunc("/llms.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# docsearch\n\n## Docs\n\n")
		for _, page := range pages {
			fmt.Fprintf(w, "- [%[1]s](/%[1]s)\n", filepath.Base(page))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// installWithNPM installs the npm package from a registry on the loopback interface.
func installWithNPM(t *testing.T, r *emptyRoot) {
	npmPath, err := exec.LookPath("npm")
	if err == nil {
		npmPath, err = filepath.EvalSymlinks(npmPath)
	}
	node, nodeErr := exec.LookPath("node")
	if err := errors.Join(err, nodeErr); err != nil {
		t.Skipf("skipped: %v", err)
	}
	registry := startRegistry(t)
	r.addProgram(t, node, "/usr/bin/node")
	const folder = "/usr/lib/node_modules/npm"
	if err := os.CopyFS(filepath.Join(r.dir, folder), os.DirFS(filepath.Dir(filepath.Dir(npmPath)))); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "npm_config_registry="+registry, "npm_config_update_notifier=false")
	r.run(t, "node", folder+"/bin/npm-cli.js", "install", "-g", "docsearch-cli")
	wantNative(t, filepath.Join(r.dir, "usr", "bin", "docsearch"))
}

// installArchive extracts the archive of the release in the folder dist.
func installArchive(t *testing.T, r *emptyRoot) {
	archive := released(t, "docsearch_*_linux_"+runtime.GOARCH+".tar.gz")
	runTool(t, "tar", "-C", filepath.Join(r.dir, "usr", "local"), "-xzf", archive, "bin", "share")
}

// installDeb extracts the Debian package of the release in the folder dist.
func installDeb(t *testing.T, r *emptyRoot) {
	runTool(t, "dpkg-deb", "-x", released(t, "docsearch_*_"+runtime.GOARCH+".deb"), r.dir)
}

// released returns a file of the release in the folder dist.
func released(t testing.TB, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(t), "dist", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Skipf("skipped: %d files match dist/%s; run make release-snapshot", len(found), pattern)
	}
	return found[0]
}

// An emptyRoot is a root folder for processes in namespaces of their own. They share only
// /dev, /proc and the network with the system.
type emptyRoot struct {
	dir    string
	env    []string
	chroot string // path of the command
}

// enter mounts /dev and /proc in the root folder $1 and runs the remaining arguments there.
// $0 is the path of chroot.
const enter = `set -e
mount --rbind /dev "$1/dev"
mount --rbind /proc "$1/proc"
exec "$0" "$@"`

// newEmptyRoot returns a root folder with a shell. It skips the test if the system does not
// permit namespaces.
func newEmptyRoot(t *testing.T) *emptyRoot {
	t.Helper()
	r := &emptyRoot{dir: t.TempDir(), env: []string{"HOME=/root", "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp", "LANG=C.UTF-8"}}
	var err error
	if r.chroot, err = exec.LookPath("chroot"); err != nil {
		r.chroot = "/usr/sbin/chroot" // not on the PATH of every user
	}
	for _, folder := range []string{"dev", "proc", "tmp", "root", "bin", "usr/bin", "usr/local/bin"} {
		if err := os.MkdirAll(filepath.Join(r.dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.addProgram(t, "/bin/sh", "/bin/sh")
	if out, err := r.command(t.Context(), "sh", "-c", "exit 0").CombinedOutput(); err != nil {
		t.Skipf("skipped: cannot enter a root folder in a user namespace: %v %s", err, out)
	}
	return r
}

// command returns a command that runs a program of the root folder in it.
func (r *emptyRoot) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"--map-root-user", "--mount", "/bin/sh", "-c", enter, r.chroot, r.dir}, args...)...)
	cmd.Env = r.env
	return cmd
}

func (r *emptyRoot) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.command(t.Context(), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q in an empty root: %v\n%s", args, err, out)
	}
	return string(out)
}

// library finds the path of a shared library in the output of ldd.
var library = regexp.MustCompile(`(/\S+) \(0x`)

// addProgram adds a program of the system, with its shared libraries, at a path in the root
// folder.
func (r *emptyRoot) addProgram(t *testing.T, program, path string) {
	t.Helper()
	r.addFile(t, program, path)
	out, err := exec.CommandContext(t.Context(), "ldd", program).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // it fails for static programs
		t.Skipf("skipped: %v", err)
	}
	for _, found := range library.FindAllStringSubmatch(string(out), -1) {
		if _, err := os.Stat(filepath.Join(r.dir, found[1])); errors.Is(err, fs.ErrNotExist) {
			r.addFile(t, found[1], found[1])
		}
	}
}

func (r *emptyRoot) addFile(t *testing.T, file, path string) {
	t.Helper()
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Link(file, to) == nil {
		return
	}
	if err := os.WriteFile(to, []byte(read(t, file)), 0o755); err != nil {
		t.Fatal(err)
	}
}

func runTool(t testing.TB, name string, args ...string) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
