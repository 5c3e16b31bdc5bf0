package agentconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgramAt(t *testing.T) {
	dir := realPath(t, t.TempDir())
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) + exe }
	for path, mode := range map[string]os.FileMode{
		"both/docsearch": 0o755, "both/docsearch-hook": 0o755, "both/docsearch-2": 0o755,
		"alone/docsearch":      0o755,
		"broken/docsearch":     0o755,
		"hookless/docsearch":   0o755,
		"other/docsearch-hook": 0o755,
	} {
		write(t, at(path), "program")
		if err := os.Chmod(at(path), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("broken/docsearch-hook"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{ // whether docsearch-hook runs the hook
		"both/docsearch": true, "both/docsearch-2": false, "alone/docsearch": false, "broken/docsearch": false, "none/docsearch": false,
	}
	if runtime.GOOS != "windows" { // links need a privilege there
		for link, target := range map[string]string{
			"linked/docsearch": "both/docsearch", "linked/docsearch-hook": "both/docsearch-hook",
			"link/docsearch":  "both/docsearch",
			"mixed/docsearch": "alone/docsearch", "mixed/docsearch-hook": "other/docsearch-hook",
		} {
			if err := os.MkdirAll(filepath.Dir(at(link)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(at(target), at(link)); err != nil {
				t.Fatal(err)
			}
		}
		tests["linked/docsearch"], tests["link/docsearch"], tests["mixed/docsearch"] = true, false, false
	}
	for path, hooked := range tests {
		want := Program{at(path), at(path)}
		if hooked {
			want.Hook = filepath.Join(filepath.Dir(at(path)), "docsearch-hook"+exe)
		}
		if got := ProgramAt(at(path)); got != want {
			t.Errorf("ProgramAt(%q) = %q, want %q", at(path), got, want)
		}
	}
	t.Setenv("PATH", filepath.Dir(at("both/docsearch")))
	if got, want := ProgramAt("docsearch"), (Program{"docsearch", "docsearch"}); got != want {
		t.Errorf("ProgramAt of a name = %q, want %q", got, want)
	}
}

func TestCopyProgram(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "docsearch"), filepath.Join(t.TempDir(), ".bin", "docsearch")
	write(t, from, "main")
	alone := Program{from, from}
	if err := alone.Copy(alone.CopyAt(to)); err != nil || alone.CopyAt(to) != (Program{to, to}) || read(t, to) != "main" {
		t.Errorf("a copy of docsearch alone: %v", err)
	}
	write(t, from+"-hook", "hook")
	both := Program{from, from + "-hook"}
	if err := both.Copy(both.CopyAt(to)); err != nil || both.CopyAt(to) != (Program{to, to + "-hook"}) || read(t, to+"-hook") != "hook" {
		t.Errorf("a copy of both programs: %v", err)
	}
	write(t, to+"-hook", "an older version")
	if err := both.Copy(both.CopyAt(to)); err != nil || read(t, to+"-hook") != "hook" {
		t.Errorf("a second copy: %v, %q", err, read(t, to+"-hook"))
	}
}

// Install changes the program of the hook in the entries that exist, in both directions,
// and adds no others.
func TestHookProgram(t *testing.T) {
	main, hook := Program{program, program}, Program{program, program + "-hook"}
	for _, c := range Clients() {
		for _, s := range []Scope{User, Project} {
			t.Run(c.Name+" "+string(s), func(t *testing.T) {
				in := newInstallations(t, c, s)
				in.install(main)
				before, files := in.found(), in.files()
				in.install(hook)
				after := in.found()
				if len(after.Hooks) != len(before.Hooks) || len(after.Servers) != len(before.Servers) {
					t.Errorf("%d hooks and %d servers became %d and %d", len(before.Hooks), len(before.Servers), len(after.Hooks), len(after.Servers))
				}
				for _, h := range after.Hooks {
					if h.Program != hook.Hook || h.OtherCommand != "" {
						t.Errorf("hook = %+v", h)
					}
				}
				for _, server := range after.Servers {
					if server.Command != hook.Path || !server.Ours {
						t.Errorf("server = %+v", server)
					}
				}
				if n := in.install(hook); n > 0 {
					t.Errorf("a second install changes %d files", n)
				}
				in.install(main)
				if diff := cmp.Diff(files, in.files()); diff != "" {
					t.Errorf("the way back (-want +got):\n%s", diff)
				}
				in.install(hook)
				in.uninstall()
				if left := in.files(); len(left) > 0 {
					t.Errorf("uninstall left %q", left)
				}
			})
		}
	}
}

// installations are the installations of a client in a scope of an empty home.
type installations struct {
	t      *testing.T
	client *Client
	scope  Scope
	places *Places
	claude *Claude
}

func newInstallations(t *testing.T, c *Client, s Scope) *installations {
	p, claude := testPlaces(t), testClaude(t)
	claude.settings, claude.state, claude.project = filepath.Join(p.home, ".claude"), filepath.Join(p.home, ".claude.json"), p.project
	return &installations{t, c, s, p, claude}
}

// install returns the number of changed files.
func (in *installations) install(p Program) int {
	if in.client.IsClaude() {
		return in.apply(in.claude.Install(in.scope, p))
	}
	return in.apply(in.client.Install(in.places, in.scope, p))
}

func (in *installations) uninstall() {
	if in.client.IsClaude() {
		in.apply(in.claude.Uninstall(in.scope))
		return
	}
	in.apply(in.client.Uninstall(in.places, in.scope))
}

func (in *installations) apply(plan []*Change, err error) int {
	in.t.Helper()
	if err != nil {
		in.t.Fatal(err)
	}
	apply(in.t, plan)
	return len(plan)
}

func (in *installations) found() Installation {
	if in.client.IsClaude() {
		return in.claude.Installed()
	}
	return in.client.Installed(in.places)
}

// files returns the contents of all files but the backups.
func (in *installations) files() map[string]string {
	in.t.Helper()
	files := map[string]string{}
	for _, dir := range []string{in.places.home, in.places.project} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.Contains(path, ".before-docsearch") {
				files[path] = read(in.t, path)
			}
			return err
		})
		if err != nil {
			in.t.Fatal(err)
		}
	}
	return files
}

func TestInCache(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/u/.npm/_npx/0a1b/node_modules/.bin/docsearch":                                                    true,
		"/home/u/.cache/pnpm/dlx/0a1b/node_modules/docsearch-cli/bin/docsearch":                                 true,
		"/tmp/dlx-4711/node_modules/docsearch-cli/bin/docsearch":                                                true,
		"/tmp/bunx-1000-docsearch-cli@latest/node_modules/docsearch-cli/bin/docsearch":                          true,
		"/home/u/.local/share/pnpm/global/5/.pnpm/docsearch-cli@1.2.3/node_modules/docsearch-cli/bin/docsearch": true,
		"/usr/lib/node_modules/docsearch-cli/bin/docsearch":                                                     false,
		"/home/u/project/node_modules/docsearch-cli-linux-x64/bin/docsearch":                                    false,
		"/home/dlxuser/.local/bin/docsearch":                                                                    false,
		"/opt/homebrew/bin/docsearch":                                                                           false,
	} {
		if got := InCache(path); got != want {
			t.Errorf("InCache(%q) = %t, want %t", path, got, want)
		}
	}
}
