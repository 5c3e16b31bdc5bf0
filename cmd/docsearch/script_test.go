package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"docsearch": main})
}

// TestScript runs testdata/script/*.txt, each in an empty home of its own.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("USERPROFILE", env.WorkDir+"/home")
			env.Setenv("APPDATA", env.WorkDir+"/home/AppData/Roaming")
			env.Setenv("LOCALAPPDATA", env.WorkDir+"/home/AppData/Local")
			return nil
		},
	})
}
