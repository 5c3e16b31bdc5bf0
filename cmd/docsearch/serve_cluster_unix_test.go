//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/docsearch/docsearch/test/clustertest"
)

// TestClusterHang stops one of three real nodes with SIGSTOP, so that it accepts
// connections and does not answer. The hook is answered in time by the other ones, also
// with a fourth address that never answers.
func TestClusterHang(t *testing.T) {
	c := clustertest.Start(t, 3, clustertest.Options{})
	hung, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections by its backlog
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	writer := newTestMachine(t)
	for i := range 40 {
		writer.write(fmt.Sprintf("docs/page%d.md", i), fmt.Sprintf("# The command gizmo%d\n\nGizmo number %d rotates the %d. wheel of the signing machine.\n", i, i, i))
	}
	writer.write("docs/cert.md", "# Rotate the signing certificate\n\nRun `deployctl rotate --signing-certificate` on the registry host.\n")
	writer.run(0, "", "index", "build", "docs", "--name", "gizmos", "-q")
	writer.run(0, "", "cluster", "push", "gizmos", "--to", strings.Join(c.URLs(), ","))

	for name, urls := range map[string][]string{"stopped node": c.URLs(), "stopped node and silent address": append(c.URLs(), "http://"+hung.Addr().String())} {
		t.Run(name, func(t *testing.T) {
			reader := newTestMachine(t)
			config, err := json.Marshal(map[string]any{"databases": []any{map[string]any{
				"keywords": []string{"gizmos"}, "description": "Gizmos", "weaviate": map[string]any{"urls": urls, "database": "gizmos"},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			reader.write("config.json", string(config))
			server, err := client.NewStdioMCPClient("docsearch", reader.env, "serve")
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			if _, err := server.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
				t.Fatal(err)
			}
			search := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "rotate the signing certificate"}}}
			r, err := server.CallTool(t.Context(), search)
			if err != nil || !strings.Contains(r.Content[0].(mcp.TextContent).Text, "deployctl") {
				t.Fatalf("search: %v, %v", r, err)
			}
			session := 0
			ask := func() (denied bool, took time.Duration, out string) {
				session++
				reader.forgetDown()
				cmd := exec.Command("docsearch", "hook")
				cmd.Env, cmd.Dir = append(reader.env, "DOCSEARCH_DEBUG=1"), reader.home
				cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name": "PreToolUse", "session_id": "s%d", "tool_name": "WebSearch", "tool_input": {"query": "gizmos rotate the signing certificate"}}`, session))
				start := time.Now()
				output, _ := cmd.CombinedOutput() // exits with 2 for a denial
				return strings.Contains(string(output), "deployctl rotate"), time.Since(start), string(output)
			}
			measure := func(state string) {
				t.Helper()
				const runs = 60
				var times []time.Duration
				denied, other := 0, ""
				for range runs {
					ok, took, out := ask()
					times = append(times, took)
					if ok {
						denied++
					} else {
						other = out
					}
				}
				slices.Sort(times)
				t.Logf("%s: %d of %d denied, p50 %v, p90 %v, slowest %v", state, denied, runs, times[runs/2].Round(time.Millisecond), times[runs*9/10].Round(time.Millisecond), times[runs-1].Round(time.Millisecond))
				if denied < runs*9/10 {
					t.Errorf("%s: only %d of %d searches were denied; the hook says %s", state, denied, runs, other)
				}
			}
			ask() // writes the snapshot of the config
			measure("all nodes answer")
			for _, node := range c.Nodes {
				if err := syscall.Kill(node.PID(), syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				measure(node.Name + " hangs")
				if err := syscall.Kill(node.PID(), syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// forgetDown lets the hook ask servers again that did not answer.
func (m *testMachine) forgetDown() {
	records, err := filepath.Glob(filepath.Join(m.home, "cache", "*.down"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, r := range records {
		if err := os.Remove(r); err != nil && !os.IsNotExist(err) {
			m.t.Fatal(err)
		}
	}
}
