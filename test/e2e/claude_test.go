//go:build e2e

// Package e2e tests docsearch with real clients from npm, with a scripted model
// on the loopback interface in place of the real one. The tests check the
// requests that the model receives. TestClients runs all clients through the
// same script and compares the results with the tables in the docs; the other
// tests run three versions of Claude Code.
//
// It needs npm, and the npm registry on the first run; without them, the tests
// are skipped. The clients are cached in $DOCSEARCH_E2E_CACHE, by default
// .cache/e2e at the root of the repository. With DOCSEARCH_E2E_LATEST=1,
// TestClients runs the newest versions instead of the pinned ones.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/file/filetest"
)

// Versions of Claude Code: the newest supported one, one from mid-2026, and the
// oldest.
var versions = []string{"2.1.332", "2.1.197", "2.0.30"}

const claudePackage = "@anthropic-ai/claude-code"

// npm installs a version of an npm package, unless it is cached, and returns the
// folder of its executables.
func npm(t *testing.T, pkg, version string) string {
	t.Helper()
	dir := filepath.Join(cache(t), path.Base(pkg)+"-"+version)
	bin := filepath.Join(dir, "node_modules", ".bin")
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return bin
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"install", "--prefix", dir, "--no-fund", "--no-audit", pkg + "@" + version}
	if pkg == grokBuild.pkg { // its script installs it in the user's home, too
		args = append(args, "--ignore-scripts")
	}
	runNPM(t, args...)
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return bin
}

// unreachable is npm's error if it cannot reach the registry. Later tests do not
// try again, because npm gives up only after a minute.
var (
	unreachable    string
	networkFailure = regexp.MustCompile(`code (ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)`)
)

// runNPM runs npm and returns its output. It skips the test if npm is missing or
// cannot reach the registry.
func runNPM(t *testing.T, args ...string) string {
	t.Helper()
	if unreachable != "" {
		t.Skip("skipped: npm cannot reach its registry: " + unreachable)
	}
	program, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("skipped: npm, which installs the clients, is missing")
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if unreachable = networkFailure.FindString(errs.String()); unreachable != "" {
			t.Skip("skipped: npm cannot reach its registry: " + unreachable)
		}
		t.Fatalf("npm %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

func cache(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("DOCSEARCH_E2E_CACHE"); dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	return filepath.Join(root(t), ".cache", "e2e")
}

// root returns the root folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("no source file for this test")
	}
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// A session is a run of `claude -p` in its own home.
type session struct {
	version string
	home    string   // initially empty
	project string   // working directory
	env     []string // additional variables
	// command runs the client in another place, if it is not nil.
	command func(ctx context.Context, args ...string) *exec.Cmd
}

func newSession(t *testing.T, version string) *session {
	t.Helper()
	s := &session{version: version, home: filetest.TempDir(t), project: filetest.TempDir(t)}
	s.env = []string{
		"HOME=" + s.home,
		// install runs the client on PATH to determine its version.
		"PATH=" + npm(t, claudePackage, version) + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"TMPDIR=" + filetest.TempDir(t),
		"LANG=C.UTF-8",
	}
	return s
}

func (s *session) setenv(name, value string) {
	s.env = append(s.env, name+"="+value)
}

// A run is the output of the client for one run.
type run struct {
	init struct {
		Session string        `json:"session_id"`
		Servers []serverState `json:"mcp_servers"`
	}
	result struct {
		Result  string       `json:"result"`
		Denials []deniedCall `json:"permission_denials"`
	}
	stdout, stderr string
}

type serverState struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

type deniedCall struct {
	Tool string `json:"tool_name"`
	ID   string `json:"tool_use_id"`
}

func (r run) String() string { return r.stdout + r.stderr }

// ask runs the client with one prompt and m as its model.
func (s *session) ask(t *testing.T, m *model, prompt string, flags ...string) run {
	t.Helper()
	r := s.claude(t, m.URL, append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose"}, flags...)...)
	for line := range strings.Lines(r.stdout) {
		var kind struct{ Type, Subtype string }
		if err := json.Unmarshal([]byte(line), &kind); err != nil {
			t.Fatalf("the client wrote %q: %v", line, err)
		}
		var err error
		switch {
		case kind.Type == "system" && kind.Subtype == "init":
			err = json.Unmarshal([]byte(line), &r.init)
		case kind.Type == "result":
			err = json.Unmarshal([]byte(line), &r.result)
		}
		if err != nil {
			t.Fatalf("the client wrote %q: %v", line, err)
		}
	}
	return r
}

// noModel is the address for runs that do not use a model.
const noModel = "http://127.0.0.1:1"

// claude runs the client, with an invalid key and the model at url as its only
// server.
func (s *session) claude(t *testing.T, url string, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var cmd *exec.Cmd
	if s.command == nil {
		cmd = exec.CommandContext(ctx, filepath.Join(npm(t, claudePackage, s.version), "claude"), args...)
		cmd.Dir = s.project
	} else {
		cmd = s.command(ctx, append([]string{"claude"}, args...)...)
	}
	cmd.Env = append(slices.Clip(s.env),
		"ANTHROPIC_API_KEY=sk-ant-dummy",
		"ANTHROPIC_BASE_URL="+url,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
	)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("claude %s %q: %v\nstdout: %s\nstderr: %s", s.version, args, err, out.String(), errs.String())
	}
	return run{stdout: out.String(), stderr: errs.String()}
}
