package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(cleanupRunner{m}, map[string]func(){"docsearch": main})
}

// cleanupRunner removes the built binaries after all tests.
type cleanupRunner struct{ m *testing.M }

func (c cleanupRunner) Run() int {
	os.Setenv(hookTimeout, patience)
	code := c.m.Run()
	os.RemoveAll(builtBinaries.dir)
	return code
}

// Every hook of these tests has the longest time, because the machine may be busy.
const hookTimeout, patience = "DOCSEARCH_HOOK_TIMEOUT_MS", "60000"

// TestScript runs testdata/script/*.txt, each in its own empty home.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: scriptCommands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv(hookTimeout, patience)
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("USERPROFILE", env.WorkDir+"/home")
			env.Setenv("APPDATA", env.WorkDir+"/home/AppData/Roaming")
			env.Setenv("LOCALAPPDATA", env.WorkDir+"/home/AppData/Local")
			if runtime.GOOS == "windows" { // expected location on Windows
				env.Setenv("XDG_DATA_HOME", env.WorkDir+"/home/.local/share")
			}
			program, err := exec.LookPath("docsearch")
			if err != nil {
				return err
			}
			env.Setenv("BIN", filepath.Dir(program)) // a PATH without the agents of this machine
			example, err := filepath.Abs("../../config.example.json")
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLE_CONFIG", example)
			serveEmbedders(env)
			serveSite(env)
			serveRegistry(env)
			return nil
		},
	})
}
