//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/docsearch/docsearch/internal/index/indextest"
)

// Versions of the MCP project's tools, and of the Node.js that runs them.
const (
	inspectorVersion   = "2.12.0"
	conformanceVersion = "0.1.16"
	nodeVersion        = "22"
)

// TestInspector calls docsearch serve through the MCP Inspector, as a user does
// to examine a server.
func TestInspector(t *testing.T) {
	binary, db := program(t), indextest.Database(t, 200)
	node := npm(t, "node", nodeVersion)
	inspector := npm(t, "@modelcontextprotocol/inspector", inspectorVersion)
	url := serveHTTP(t, binary, db)
	for _, transport := range []struct {
		name   string
		target []string
	}{
		{"stdio", []string{binary, "serve", "--db", db, "--leann-compat"}},
		{"http", []string{url}},
	} {
		for _, tt := range []struct {
			name     string
			args     string
			want     string // expected output
			exitCode int
		}{
			// No schema errors or warnings.
			{"tools", "tools/list --strict", `"anthropic/alwaysLoad": true`, 0},
			{"search", "tools/call --tool-name search --tool-arg query=" + indextest.Question, indextest.Answer, 0},
			{"search by a misnomer", "tools/call --tool-name search --tool-arg q=" + indextest.Question, indextest.Answer, 0},
			{"read", "tools/call --tool-name read --tool-arg id=p0000000", indextest.Answer, 0},
			{"databases", "tools/call --tool-name list_databases", "ready", 0},
			{"leann_search", "tools/call --tool-name leann_search --tool-arg index_name=" + filepath.Base(db) + " --tool-arg query=" + indextest.Question, indextest.Answer, 0},
			{"no query", "tools/call --tool-name search", "query is required; search takes query (required)", 5},
			{"unknown argument", "tools/call --tool-name search --tool-arg query=x --tool-arg bogus=1", `unknown argument \"bogus\"`, 5},
			{"no such database", "tools/call --tool-name search --tool-arg query=x --tool-arg database=none", `database \"none\" not found`, 5},
			{"no such passage", "tools/call --tool-name read --tool-arg id=none", `\"none\" not found in`, 5},
			{"no such tool", "tools/call --tool-name none", "tool_not_found", 5},
			{"resources", "resources/list", "docsearch://", 0},
			{"resource templates", "resources/templates/list", "docsearch://{database}/{+document}", 0},
			{"resource", "resources/read --uri docsearch://" + filepath.Base(db) + "/p0000000", indextest.Answer, 0},
			{"prompts", "prompts/list", `"ask"`, 0},
			{"prompt", "prompts/get --prompt-name ask --prompt-args question=" + indextest.Question, indextest.Answer, 0},
		} {
			t.Run(transport.name+"/"+tt.name, func(t *testing.T) {
				// The query is a single argument despite its spaces.
				args := strings.Fields(strings.ReplaceAll(tt.args, indextest.Question, "\x00"))
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "\x00", indextest.Question)
				}
				args = append(append([]string{"--cli"}, transport.target...), append([]string{"--method"}, args...)...)
				stdout, stderr, code := runNode(t, node, filepath.Join(inspector, "mcp-inspector"), args...)
				if code != tt.exitCode || !strings.Contains(stdout+stderr, tt.want) {
					t.Errorf("exit code %d, want %d and %q in\n%s%s", code, tt.exitCode, tt.want, stdout, stderr)
				}
				if code == 0 && stderr != "" {
					t.Errorf("it complains: %s", stderr)
				}
			})
		}
	}
}

// TestConformance runs the scenarios of the MCP conformance suite that do not
// require special tools, resources or prompts.
func TestConformance(t *testing.T) {
	binary, db := program(t), indextest.Database(t, 50)
	node := npm(t, "node", nodeVersion)
	conformance := npm(t, "@modelcontextprotocol/conformance", conformanceVersion)
	url := serveHTTP(t, binary, db)
	for _, scenario := range []string{
		"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete",
		"server-sse-multiple-streams", "dns-rebinding-protection",
	} {
		t.Run(scenario, func(t *testing.T) {
			stdout, stderr, code := runNode(t, node, filepath.Join(conformance, "conformance"),
				"server", "--url", url, "--scenario", scenario, "-o", t.TempDir())
			if code != 0 || !strings.Contains(stdout, "0 failed, 0 warnings") {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

// runNode runs a Node.js program.
func runNode(t *testing.T, node, program string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(node, "node"), append([]string{program}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "NO_COLOR=1", "DOCSEARCH_CONFIG_PATH="+filepath.Join(t.TempDir(), "none.json"))
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// serveHTTP starts docsearch serve --http with one database and returns its
// URL. At the end of the test, it stops the server and checks that it exits.
func serveHTTP(t *testing.T, binary, db string) string {
	t.Helper()
	cmd := exec.Command(binary, "serve", "--db", db, "--leann-compat", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "DOCSEARCH_CONFIG_PATH="+filepath.Join(t.TempDir(), "none.json"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if runtime.GOOS == "windows" {
			cmd.Process.Kill()
			cmd.Wait()
			return
		}
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("docsearch serve: %v", err)
		}
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "docsearch: serving on ")
	if !ok {
		t.Fatalf("it says %q", line)
	}
	return url
}
