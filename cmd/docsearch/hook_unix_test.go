//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHookWithoutPermission runs the hook as a user without the permissions
// that it needs. Root always has them, so as root it runs the hook as another
// user.
func TestHookWithoutPermission(t *testing.T) {
	const nobody = 65534
	for _, test := range []struct {
		name   string
		modes  map[string]os.FileMode // relative to the config folder, except for the session's state
		stderr string
		denies bool
	}{
		{"config", map[string]os.FileMode{"docsearch-config.json": 0}, "permission denied", false},
		{"folder of the config", map[string]os.FileMode{".": 0}, "permission denied", false},
		{"folder to write state to", map[string]os.FileMode{"docsearch-denials": 0o555, "folder of the state": 0o555}, "permission denied", false},
		{"state", map[string]os.FileMode{"state": 0}, "permission denied", false},
		{"lock", map[string]os.FileMode{"docsearch-state.lock": 0}, "permission denied", false},
		{"cache", map[string]os.FileMode{"../../.cache": 0o555}, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHookHome(t, redirectConfig)
			folder := filepath.Dir(h.config)
			state := h.state("s")
			h.write(state, `{"last_denied": null}`)
			h.write(filepath.Join(folder, "docsearch-state.lock"), "")
			if err := os.Mkdir(filepath.Join(h.dir, ".cache"), 0o755); err != nil {
				t.Fatal(err)
			}
			root := os.Getuid() == 0
			if root {
				// The temporary folder is inside one that other users cannot access.
				for dir := h.dir; dir != filepath.Dir(dir) && dir != os.TempDir(); dir = filepath.Dir(dir) {
					if err := os.Chmod(dir, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				err := filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, err error) error {
					if err != nil {
						return err
					}
					return os.Chown(path, nobody, nobody)
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for name, mode := range test.modes {
				path := filepath.Join(folder, name)
				switch name {
				case "state":
					path = state
				case "folder of the state":
					path = filepath.Dir(state)
				}
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.Chmod(path, 0o755) })
			}
			cmd := h.command()
			if root {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			r := h.result(cmd, strings.NewReader(webSearch("s", "gitlab")))
			if test.denies {
				r.requireDenial(t)
				return
			}
			r.requirePass(t)
			if !strings.Contains(r.stderr, test.stderr) {
				t.Errorf("stderr %q, want %q", r.stderr, test.stderr)
			}
		})
	}
}
