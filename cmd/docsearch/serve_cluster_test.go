package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/docsearch/docsearch/test/clustertest"
)

// TestClusterServe searches a database in a real cluster with the MCP server, with the hook
// through it, and with the hook of another machine through an HTTP server. Without the
// cluster, the web search runs in time.
func TestClusterServe(t *testing.T) {
	c := clustertest.Start(t, 1, clustertest.Options{})
	writer := newTestMachine(t)
	for i := range 40 {
		writer.write(fmt.Sprintf("docs/page%d.md", i), fmt.Sprintf("# The command gizmo%d\n\nGizmo number %d rotates the %d. wheel of the signing machine.\n", i, i, i))
	}
	writer.write("docs/cert.md", "# Rotate the signing certificate\n\nRun `deployctl rotate --signing-certificate` on the registry host.\n")
	writer.run(0, "", "index", "build", "docs", "--name", "gizmos", "-q")
	writer.run(0, "", "cluster", "push", "gizmos", "--to", c.Nodes[0].URL)

	reader := newTestMachine(t, "DOCSEARCH_TOKEN=s3cret")
	config, err := json.Marshal(map[string]any{"databases": []any{map[string]any{
		"keywords": []string{"gizmos"}, "description": "Gizmos", "weaviate": map[string]any{"urls": []string{c.Nodes[0].URL}, "database": "gizmos"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	reader.write("config.json", string(config))
	const answer = "deployctl rotate --signing-certificate"
	const search = `{"hook_event_name": "PreToolUse", "session_id": "%s", "tool_name": "WebSearch", "tool_input": {"query": "gizmos rotate the signing certificate"}}`
	if out := reader.run(0, fmt.Sprintf(search, "none"), "hook"); strings.Contains(out, answer) {
		t.Errorf("without docsearch serve, the hook says %s", out)
	}

	mcpClient, err := client.NewStdioMCPClient("docsearch", reader.env, "serve")
	if err != nil {
		t.Fatal(err)
	}
	defer mcpClient.Close()
	if _, err := mcpClient.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	call := func(tool string, arguments map[string]any) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		r, err := mcpClient.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: arguments}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(mcp.TextContent).Text
	}
	if got := call("list_databases", nil); !strings.Contains(got, "gizmos") || !strings.Contains(got, "server: 127.0.0.1") {
		t.Errorf("list: %s", got)
	}
	found := call("search", map[string]any{"query": "rotate the signing certificate"})
	if !strings.Contains(found, answer) || !strings.Contains(found, "gizmos on 127.0.0.1") {
		t.Errorf("search: %s", found)
	}
	if got := call("read", map[string]any{"path": "cert.md", "database": "gizmos"}); !strings.Contains(got, answer) {
		t.Errorf("read: %s", got)
	}
	denied := reader.run(2, fmt.Sprintf(search, "a"), "hook")
	if !strings.Contains(denied, "Found in your team's documentation (Gizmos)") || !strings.Contains(denied, answer) {
		t.Errorf("the hook says %s", denied)
	}

	if out := reader.run(1, "", "doctor"); !strings.Contains(out, "ok    database gizmos: 41 passages in a cluster of Weaviate 1.") ||
		!strings.Contains(out, "ok    database gizmos: searches of the cluster find the best matches") {
		t.Errorf("doctor: %s", out)
	}
	if out := reader.run(0, "", "why", "gizmos rotate the signing certificate"); !strings.Contains(out, "server: "+c.Nodes[0].URL+", confidence ") || !strings.Contains(out, " - answers") {
		t.Errorf("why: %s", out)
	}

	for _, tt := range []struct{ args, want string }{
		{"list", `(?m)^gizmos +ok +41 +41 +2\d{3}-.* ` + regexp.QuoteMeta(c.Nodes[0].URL) + ` \(Weaviate cluster\)$`},
		{"index info gizmos", `server +` + regexp.QuoteMeta(c.Nodes[0].URL) + ` \(Weaviate cluster\), database gizmos\n(.*\n)*passages +41 of 41 documents\npushed +2`},
		{"search rotate the signing certificate", `(?m)^1\. Rotate the signing certificate\n.*cert\.md`},
		{"search --db gizmos --explain --filter *cert* rotate the signing certificate", `score \d+\.\d+ = words (.*\n)*confidence of gizmos on 127\.0\.0\.1: [01]\.\d+\n +lexical confidence [01]\.\d+, reaches the threshold`},
	} {
		if out := reader.run(0, "", strings.Fields(tt.args)...); !regexp.MustCompile(tt.want).MatchString(out) {
			t.Errorf("%s: %s", tt.args, out)
		}
	}

	// A team server passes on the databases of its clusters.
	url, _ := reader.serve()
	other := newTestMachine(t, "TEAM_TOKEN=s3cret")
	other.run(0, "", "setup", "--server", url, "--token-env", "TEAM_TOKEN", "--no-install", "--yes")
	other.wait()
	if out := other.run(0, "", "list"); !regexp.MustCompile(`(?m)^gizmos +ok +41 +41 .*docsearch server`).MatchString(out) {
		t.Errorf("the list of another machine: %s", out)
	}
	if out := other.run(2, fmt.Sprintf(search, "b"), "hook"); !strings.Contains(out, answer) {
		t.Errorf("through the server, the hook says %s", out)
	}

	c.Nodes[0].Kill()
	for i, m := range []*testMachine{reader, reader, other} {
		if out := m.run(0, fmt.Sprintf(search, fmt.Sprint("down", i)), "hook"); strings.Contains(out, "permissionDecision") {
			t.Errorf("run %d without the cluster says %s", i, out)
		}
	}
	if got := call("search", map[string]any{"query": "rotate the signing certificate"}); !strings.Contains(got, "cannot search gizmos on 127.0.0.1") {
		t.Errorf("without the cluster: %s", got)
	}
}
