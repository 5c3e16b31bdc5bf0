//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// builtBinary is the program under test with docsearch-hook, compiled like a release.
var builtBinary struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builtBinary.dir != "" {
		os.RemoveAll(builtBinary.dir)
	}
	os.Exit(code)
}

// program builds docsearch once and returns its path.
func program(t testing.TB) string {
	t.Helper()
	return built(t, "docsearch")
}

// hookProgram returns the path of docsearch-hook, next to docsearch.
func hookProgram(t testing.TB) string {
	t.Helper()
	return built(t, "docsearch-hook")
}

func built(t testing.TB, name string) string {
	t.Helper()
	builtBinary.once.Do(func() {
		if builtBinary.dir, builtBinary.err = os.MkdirTemp("", "docsearch-e2e-"); builtBinary.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", builtBinary.dir, "./cmd/docsearch", "./cmd/docsearch-hook")
		cmd.Dir = root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, builtBinary.err = cmd.CombinedOutput(); builtBinary.err != nil {
			t.Logf("%s", out)
		}
	})
	if builtBinary.err != nil {
		t.Fatalf("build docsearch: %v", builtBinary.err)
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(builtBinary.dir, name)
}

// docsearch runs a docsearch command in the session's home and project.
func (s *session) docsearch(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Dir, cmd.Env = s.project, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("docsearch %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// question is the web search of the scripted model, and sentence is part of the
// passage that answers it. Both are about docsearch's own documentation.
const (
	question = "docsearch escape hatch: how does a denied web search go through"
	sentence = "If the agent sends the same search again within five minutes, it runs."
)

// database builds a database of docsearch's documentation and adds it to the
// config.
func (s *session) database(t *testing.T) {
	t.Helper()
	s.docsearch(t, "index", "build", filepath.Join(root(t), "docs"), "--name", "docsearch")
	config, err := json.Marshal(map[string]any{"databases": []any{map[string]any{
		"keywords":    []string{"docsearch"},
		"path":        filepath.Join(s.home, ".local", "share", "docsearch", "docsearch"),
		"description": "docsearch documentation",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), string(config))
}

func (s *session) write(t testing.TB, path, contents string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// writeProgram writes a script that can be executed.
func (s *session) writeProgram(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
