//go:build e2e

package e2e

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/filetest"
)

// An npmUser runs npm with the packages of a registry on the loopback interface.
type npmUser struct {
	home   string
	prefix string // of global packages
	env    []string
}

// newNPMUser returns a user with an empty home.
func newNPMUser(t testing.TB, registry string) *npmUser {
	t.Helper()
	u := &npmUser{home: filetest.TempDir(t), prefix: filetest.TempDir(t)}
	u.env = []string{
		"HOME=" + u.home,
		"PATH=" + filepath.Join(u.prefix, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"TMPDIR=" + filetest.TempDir(t),
		"npm_config_registry=" + registry,
		"npm_config_prefix=" + u.prefix,
		"npm_config_cache=" + filepath.Join(u.home, ".npm"),
		"npm_config_update_notifier=false",
	}
	return u
}

// run runs a command in a folder and returns its output.
func (u *npmUser) run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	out, err := u.command(t, dir, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (u *npmUser) command(t testing.TB, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	for _, variable := range u.env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok && !strings.Contains(name, "/") {
			for _, folder := range filepath.SplitList(path) {
				if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
					name = found
					break
				}
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, u.env
	return cmd
}

// hookCommand returns the command of the hook in the user's settings.
func (u *npmUser) hookCommand(t testing.TB) string {
	t.Helper()
	var settings struct {
		Hooks struct {
			PreToolUse []struct {
				Hooks []struct{ Command string }
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(u.home, ".claude", "settings.json"))), &settings); err != nil {
		t.Fatal(err)
	}
	if len(settings.Hooks.PreToolUse) == 0 || len(settings.Hooks.PreToolUse[0].Hooks) == 0 {
		t.Fatal("the settings have no hook")
	}
	return settings.Hooks.PreToolUse[0].Hooks[0].Command
}

// hookProgram returns the path of the program in the settings.
func (u *npmUser) hookProgram(t testing.TB) string {
	t.Helper()
	for word := range strings.FieldsSeq(u.hookCommand(t)) {
		if strings.HasPrefix(word, "/") && strings.HasPrefix(filepath.Base(word), "docsearch") {
			return word
		}
	}
	t.Fatalf("the hook has no path: %s", u.hookCommand(t))
	return ""
}

// The packages work in each way that npm installs or runs them, and the settings
// of an agent always have the path of a native binary that stays.
func TestNPM(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: the paths of global packages are those of other systems")
	}
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("skipped: %s not found", name)
		}
	}
	registry := startRegistry(t)

	t.Run("global", func(t *testing.T) {
		u := newNPMUser(t, registry)
		installed := filepath.Join(u.prefix, "bin", "docsearch")
		u.run(t, u.home, "npm", "install", "-g", "docsearch-cli@1.0.0")
		wantNative(t, installed)
		wantOneCopy(t, installed, filepath.Join(u.prefix, "lib", "node_modules"))
		u.run(t, u.home, "docsearch", "install", "--client", "claude")
		if got := u.hookCommand(t); !strings.Contains(got, installed+"-hook hook") {
			t.Errorf("the hook runs %q, want %s-hook", got, installed)
		}
		wantNativeHook(t, u, u.prefix)
		u.run(t, u.home, "npm", "install", "-g", "docsearch-cli@1.1.0")
		wantNative(t, installed)
		wantNativeHook(t, u, u.prefix)
		if manifest := read(t, filepath.Join(u.prefix, "lib", "node_modules", "docsearch-cli", "package.json")); !strings.Contains(manifest, `"version": "1.1.0"`) {
			t.Errorf("after the upgrade, the package is %s", manifest)
		}
		u.run(t, u.home, "npm", "uninstall", "-g", "docsearch-cli")
		for _, path := range []string{installed, installed + "-hook"} {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("after uninstall, Lstat of %s returns %v", path, err)
			}
		}
	})

	t.Run("global without scripts", func(t *testing.T) {
		u := newNPMUser(t, registry)
		u.run(t, u.home, "npm", "install", "-g", "--ignore-scripts", "docsearch-cli@1.0.0")
		launcher := filepath.Join(u.prefix, "bin", "docsearch")
		if !strings.HasPrefix(read(t, launcher), "#!/usr/bin/env node\n") {
			t.Error("the launcher is not a script")
		}
		cmd := u.command(t, u.home, launcher, "search", "--no-such-flag")
		var exit *exec.ExitError
		if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || !strings.Contains(string(out), "no-such-flag") {
			t.Errorf("the launcher ended with %v and printed %s", err, out)
		}
		native := exec.CommandContext(t.Context(), program(t), "search", "--no-such-flag")
		if err := native.Run(); exit.ExitCode() != native.ProcessState.ExitCode() {
			t.Errorf("the launcher's exit code is %d, the binary ended with %v", exit.ExitCode(), err)
		}
		u.run(t, u.home, "docsearch", "install", "--client", "claude")
		wantNativeHook(t, u, filepath.Join(u.prefix, "lib", "node_modules"))
		for _, launcher := range []string{launcher + "-hook", u.hookProgram(t)} {
			cmd := u.command(t, u.home, launcher, "hook")
			cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"rice"}}`)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s hook: %v, %s", launcher, err, out)
			}
		}
	})

	t.Run("project", func(t *testing.T) {
		u := newNPMUser(t, registry)
		project := t.TempDir()
		u.run(t, project, "npm", "install", "docsearch-cli@1.0.0")
		wantNative(t, filepath.Join(project, "node_modules", ".bin", "docsearch"))
		u.run(t, project, "npx", "docsearch", "install", "--client", "claude")
		wantNativeHook(t, u, filepath.Join(project, "node_modules", "docsearch-cli"))
		u.run(t, project, "npm", "uninstall", "docsearch-cli")
		for _, pattern := range []string{"docsearch-cli*", ".bin/docsearch*"} {
			if left, _ := filepath.Glob(filepath.Join(project, "node_modules", pattern)); len(left) > 0 {
				t.Errorf("uninstall left %q", left)
			}
		}
	})

	for _, scripts := range []string{"with scripts", "without scripts"} {
		t.Run("npx "+scripts, func(t *testing.T) {
			u := newNPMUser(t, registry)
			if scripts == "without scripts" {
				u.env = append(u.env, "npm_config_ignore_scripts=true")
			}
			out := u.run(t, u.home, "npx", "--yes", "docsearch-cli@1.0.0", "install", "--client", "claude")
			if !strings.Contains(out, "copied the program to ") {
				t.Errorf("install printed %s", out)
			}
			wantNativeHook(t, u, filepath.Join(u.home, ".local", "share", "docsearch", ".bin", "docsearch-hook"))
			wantNative(t, filepath.Join(u.home, ".local", "share", "docsearch", ".bin", "docsearch"))
			if err := os.RemoveAll(filepath.Join(u.home, ".npm")); err != nil {
				t.Fatal(err)
			}
			wantNativeHook(t, u, u.home) // the copy is still there
		})
	}
}

// wantNative checks that a file is the native binary.
func wantNative(t testing.TB, path string) {
	t.Helper()
	if read(t, path) != read(t, program(t)) {
		t.Errorf("%s is not the native binary", path)
	}
}

// wantOneCopy checks that the binaries in the package of the platform are the same files as
// the installed ones, executable, and alone in their folder.
func wantOneCopy(t testing.TB, installed, modules string) {
	t.Helper()
	var found []string
	err := filepath.WalkDir(modules, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "docsearch") && filepath.Base(filepath.Dir(path)) == "bin" {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 4 { // two of the launcher's package, and two of the platform's
		t.Fatalf("the packages have the programs %q, %v", found, err)
	}
	for _, path := range found {
		installed := filepath.Join(filepath.Dir(installed), filepath.Base(path))
		want, err := os.Stat(installed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.Stat(path); err != nil || !os.SameFile(got, want) || got.Mode().Perm() != 0o755 {
			t.Errorf("%s is another file than %s, or not executable: %v", path, installed, err)
		}
	}
}

// wantNativeHook checks that the hook in the settings runs the native docsearch-hook at a
// path with the given prefix, and that this finds docsearch.
func wantNativeHook(t *testing.T, u *npmUser, prefix string) {
	t.Helper()
	installed := u.hookProgram(t)
	if !strings.HasPrefix(installed, prefix) {
		t.Errorf("the hook runs %s, want a program in %s", installed, prefix)
	}
	if read(t, installed) != read(t, hookProgram(t)) {
		t.Errorf("%s is not the native docsearch-hook", installed)
	}
	if out := u.run(t, u.home, installed, "version", "--json"); !strings.Contains(out, `"go":`) {
		t.Errorf("docsearch printed %s", out)
	}
}

// A registry serves npm packages: each package's versions, and their files.
type registry struct {
	url      string
	packages map[string]map[string]any // by name
	files    map[string][]byte         // by name
}

// startRegistry starts a registry on the loopback interface with two versions of
// the packages of this platform.
func startRegistry(t testing.TB) string {
	t.Helper()
	r := &registry{packages: map[string]map[string]any{}, files: map[string][]byte{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + "/"
	for _, version := range []string{"1.0.0", "1.1.0"} {
		r.add(t, version)
	}
	return r.url
}

// buildPackages writes the packages of a version for this platform, and returns their
// folders.
func buildPackages(t testing.TB, version string) []string {
	t.Helper()
	dist := t.TempDir()
	artifacts, err := json.Marshal([]any{
		map[string]string{"type": "Binary", "goos": runtime.GOOS, "goarch": runtime.GOARCH, "path": program(t)},
		map[string]string{"type": "Binary", "goos": runtime.GOOS, "goarch": runtime.GOARCH, "path": hookProgram(t)},
		map[string]string{"type": "Archive", "goos": runtime.GOOS, "goarch": runtime.GOARCH, "path": "docsearch.tar.gz"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"artifacts.json": string(artifacts), "metadata.json": `{"version": "` + version + `"}`} {
		if err := os.WriteFile(filepath.Join(dist, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "npm/build.mjs", dist)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build.mjs: %v\n%s", err, out)
	}
	folders, err := filepath.Glob(filepath.Join(dist, "npm", "*"))
	if err != nil || len(folders) != 2 {
		t.Fatalf("build.mjs wrote %q, %v", folders, err)
	}
	return folders
}

// add builds the packages of a version and adds them.
func (r *registry) add(t testing.TB, version string) {
	t.Helper()
	u, dist := newNPMUser(t, r.url), t.TempDir()
	for _, folder := range buildPackages(t, version) {
		name := filepath.Base(folder)
		file := name + "-" + version + ".tgz"
		u.run(t, folder, "npm", "pack", "--pack-destination", dist)
		r.files[file] = []byte(read(t, filepath.Join(dist, file)))
		var manifest map[string]any
		if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "package.json"))), &manifest); err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(r.files[file])
		manifest["dist"] = map[string]string{
			"tarball":   r.url + name + "/-/" + file,
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		if r.packages[name] == nil {
			r.packages[name] = map[string]any{}
		}
		r.packages[name][version] = manifest
	}
}

func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	name := path.Base(request.URL.Path)
	if data, ok := r.files[name]; ok {
		w.Write(data)
		return
	}
	versions, ok := r.packages[name]
	if !ok {
		http.NotFound(w, request)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"name": name, "versions": versions, "dist-tags": map[string]string{"latest": "1.1.0"}})
}
