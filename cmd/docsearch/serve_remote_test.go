package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/docsearch/docsearch/internal/index/indextest"
)

// TestServeMixesServers checks that the local server searches and reads local databases
// and those of another server together, names the server, and goes on without it.
func TestServeMixesServers(t *testing.T) {
	// The other server has the made-up documentation.
	remote := exec.Command("docsearch", "serve", "--http", "127.0.0.1:0", "--db", indextest.Database(t, 300))
	remote.Env = append(os.Environ(), append(serveEnv(t), "DOCSEARCH_TOKEN=s3cret", "HOME="+t.TempDir())...)
	stderr, err := remote.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		remote.Process.Kill()
		remote.Wait()
	}()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), "/mcp"), "serving on ")
	if err != nil || !ok {
		t.Fatalf("%v: %s", err, line)
	}

	home := t.TempDir()
	config, err := json.Marshal(map[string]any{
		"databases": []any{map[string]any{"name": "near", "keywords": []string{"near"}, "path": indextest.Database(t, 200), "description": "Local documentation"}},
		"servers":   []any{map[string]any{"url": url, "token_env": "TEAM_TOKEN"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "config.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := client.NewStdioMCPClient("docsearch", []string{"DOCSEARCH_CONFIG_PATH=" + path, "DOCSEARCH_DATA=" + filepath.Join(home, "data"),
		"DOCSEARCH_CACHE_DIR=" + filepath.Join(home, "cache"), "TEAM_TOKEN=s3cret"}, "serve")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	call := func(tool string, arguments map[string]any) string {
		t.Helper()
		r, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: arguments}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(mcp.TextContent).Text
	}
	for began := time.Now(); !strings.Contains(call("list_databases", nil), "server: 127.0.0.1"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the other server's databases are missing: %s", call("list_databases", nil))
		}
	}
	both := call("search", map[string]any{"query": indextest.Question, "top_k": 4})
	if !strings.Contains(both, " | near | ") || !strings.Contains(both, " on 127.0.0.1 | ") || strings.Count(both, indextest.Answer) < 2 {
		t.Errorf("search in both: %s", both)
	}
	if got := call("read", map[string]any{"id": "p0000000", "database": "near"}); !strings.Contains(got, indextest.Answer) {
		t.Errorf("read here: %s", got)
	}
	listed := call("list_databases", nil)
	far, _, _ := strings.Cut(listed[strings.Index(listed, "near")+len("near"):], "\n  server:")
	far = strings.Fields(far[strings.LastIndex(far, "\n\n")+2:])[0]
	if got := call("read", map[string]any{"id": "p0000000", "database": far}); !strings.Contains(got, indextest.Answer) || !strings.Contains(got, far+" on 127.0.0.1") {
		t.Errorf("read there, from %q: %s", far, got)
	}

	remote.Process.Kill()
	remote.Wait()
	alone := call("search", map[string]any{"query": indextest.Question})
	if !strings.Contains(alone, indextest.Answer) || !strings.Contains(alone, "cannot search "+far+" on 127.0.0.1") || strings.Contains(alone, "s3cret") {
		t.Errorf("without the other server: %s", alone)
	}
}
