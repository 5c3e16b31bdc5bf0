package startup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/file/mmap"
	_ "github.com/docsearch/docsearch/internal/hook/crashguard"
)

// A failure of the hook must not look like a denial. By default, a Go program that crashes
// exits with code 2, which is one.
func TestGuard(t *testing.T) {
	crashes := map[string]func() int{
		"panic": func() int { panic("on purpose") },
		"fault": func() int {
			path := filepath.Join(os.Getenv("STARTUP_TEST_DIR"), "file")
			if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
				panic(err)
			}
			m, err := mmap.Open(path)
			if err != nil {
				panic(err)
			}
			if err := os.Truncate(path, 0); err != nil {
				panic(err)
			}
			return int(m.Data[1<<19])
		},
		"stack": func() int {
			debug.SetMaxStack(1 << 16)
			return overflow(0)
		},
	}
	if name := os.Getenv("STARTUP_TEST_CRASH"); name != "" {
		os.Exit(Guard(os.Stderr, crashes[name]))
	}
	for name := range crashes {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (name == "fault" || name == "stack") {
				t.Skip("Windows cannot truncate a mapped file and has no signals")
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestGuard$")
			cmd.Env = append(os.Environ(), "STARTUP_TEST_CRASH="+name, "STARTUP_TEST_DIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			code := cmd.ProcessState.ExitCode()
			if name == "stack" {
				if code != -1 {
					t.Errorf("exit code %d, want the end by a signal", code)
				}
				return
			}
			if code != 0 || !strings.HasSuffix(string(out), "; the call runs as usual\n") {
				t.Errorf("exit code %d, output %q", code, out)
			}
		})
	}
}

// overflow recurses without end, which Go cannot recover from.
func overflow(n int) int {
	//lint:ignore SA5007 the test needs endless recursion
	return overflow(n+1) + 1
}
