//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestTeam connects Claude Code and the MCP Inspector to a server with a token. The hook
// denies a web search from the server's database, and the search tool reads it over HTTP.
// If the server is down, slow or wrong, the web search runs in time.
func TestTeam(t *testing.T) {
	server, address, token := startTeamServer(t)
	s := newSession(t, versions[0])
	front := newFront(t, address)
	tokenFile := filepath.Join(s.home, "token")
	s.write(t, tokenFile, token)
	if err := os.Chmod(tokenFile, 0o600); err != nil {
		t.Fatal(err)
	}
	// The hook alone: the search tool is the server's.
	hook := hookProgram(t) + " hook"
	hooks, err := json.Marshal(map[string]any{"permissions": map[string]any{"allow": []string{"WebSearch"}},
		"hooks": map[string]any{"PreToolUse": []any{map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": hook}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, s.settings(), string(hooks))
	s.docsearch(t, "setup", "--server", front.URL, "--token-file", tokenFile, "--no-install", "--yes")
	s.claude(t, noModel, "mcp", "add", "--scope", "user", "--transport", "http", "docsearch", front.URL+"/mcp", "--header", "Authorization: Bearer "+token)

	m := newModel(t, searchingModel)
	r := s.ask(t, m, "How does a denied web search go through?")
	if t.Failed() || len(m.requests) == 0 {
		t.Fatalf("the model was not asked; the client said\n%s", r)
	}
	last := m.requests[len(m.requests)-1]
	results := last.results()
	if searches := results["WebSearch"]; len(searches) != 2 || !searches[0].IsError || !strings.Contains(searches[0].Content.text(), "Found in your team's documentation (") ||
		!strings.Contains(last.text(), sentence) || !strings.Contains(searches[1].Content.text(), webResult) {
		t.Errorf("the denial or the retry is not right; the model saw\n%s\nthe client said\n%s", last.text(), r)
	}
	if answers := results["mcp__docsearch__search"]; len(answers) != 1 || answers[0].IsError || !strings.Contains(answers[0].Content.text(), " passages from docsearch for ") {
		t.Errorf("the search tool returned %+v; the client said\n%s", answers, r)
	}

	for _, mode := range []string{"slow", "error", "garbage", "down"} {
		t.Run(mode, func(t *testing.T) {
			s.forgetServers(t)
			front.mode.Store(mode)
			if mode == "down" {
				server()
			}
			m := newModel(t, searchOnce)
			s.runHook(t)
			s.forgetServers(t)
			r := s.ask(t, m, "How does a denied web search go through?", "--strict-mcp-config")
			if len(m.requests) == 0 {
				t.Fatalf("the model was not asked; the client said\n%s", r)
			}
			searches := m.requests[len(m.requests)-1].results()["WebSearch"]
			if len(searches) != 1 || searches[0].IsError || !strings.Contains(searches[0].Content.text(), webResult) {
				t.Errorf("the web search did not run: %+v\n%s", searches, r)
			}
		})
	}
}

// The MCP Inspector calls the search tool with a token, and is refused without one.
func TestTeamInspector(t *testing.T) {
	_, address, token := startTeamServer(t)
	node := npm(t, "node", nodeVersion)
	inspector := filepath.Join(npm(t, "@modelcontextprotocol/inspector", inspectorVersion), "mcp-inspector")
	args := []string{"--cli", address + "/mcp", "--transport", "http", "--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=" + question}
	if stdout, stderr, code := runNode(t, node, inspector, args...); code == 0 {
		t.Errorf("without a token: %s%s", stdout, stderr)
	}
	stdout, stderr, code := runNode(t, node, inspector, append(args, "--header", "Authorization: Bearer "+token)...)
	if code != 0 || !strings.Contains(stdout, sentence) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestTeamClients connects other clients to a server with a token. The hook denies a web
// search from the server's database, and the search tool finds it. If the server is down,
// slow or wrong, the web search runs in time.
func TestTeamClients(t *testing.T) {
	for _, c := range []client{codexCLI, geminiCLI} {
		t.Run(c.name, func(t *testing.T) {
			stop, address, token := startTeamServer(t)
			s := newClientSession(t, c)
			front := newFront(t, address)
			tokenFile := filepath.Join(s.home, "token")
			s.write(t, tokenFile, token)
			if err := os.Chmod(tokenFile, 0o600); err != nil {
				t.Fatal(err)
			}
			s.write(t, filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), "{}")
			s.docsearch(t, "setup", "--server", front.URL, "--token-file", tokenFile, "--no-install", "--yes")
			s.docsearch(t, "install", "--client", c.name)
			p := s.play(t, step{"search", c.search(question)}, step{"mcp", c.mcp(question)})
			if problem := p.failDenial("search", "Found in your team's documentation (", sentence); problem != "" {
				t.Errorf("%s\nthe client said\n%s", problem, p.output)
			}
			if result := p.result("mcp"); !strings.Contains(result, sentence) || !strings.Contains(result, "docsearch on 127.0.0.1") {
				t.Errorf("the search tool returned %s\nthe client said\n%s", result, p.output)
			}
			for _, mode := range []string{"slow", "error", "garbage", "down"} {
				s.forgetServers(t)
				front.mode.Store(mode)
				if mode == "down" {
					stop()
				}
				s.runHook(t)
				s.forgetServers(t)
				p := s.play(t, step{"search", c.search(question)})
				if problem := p.failRetry("search"); problem != "" {
					t.Errorf("%s: %s\nthe client said\n%s", mode, problem, p.output)
				}
			}
		})
	}
}

// searchOnce is a model that searches the web once.
func searchOnce(c conversation) reply {
	switch results := c.results(); {
	case c.tool("WebSearch") == nil && len(results["ToolSearch"]) == 0 && c.tool("ToolSearch") != nil:
		return call("load", "ToolSearch", map[string]any{"query": "select:WebSearch", "max_results": 5})
	case len(results["WebSearch"]) == 0:
		return call("only", "WebSearch", map[string]any{"query": question})
	}
	return say("Done.")
}

// startTeamServer starts a server with docsearch's documentation, and returns the function
// that stops it, its address, and a token.
func startTeamServer(t *testing.T) (stop func(), address, token string) {
	t.Helper()
	s := newSession(t, versions[0])
	s.database(t)
	token = strings.TrimSpace(s.docsearch(t, "token", "new", "e2e", "--db", "docsearch"))
	cmd := exec.Command(program(t), "serve", "--http", "127.0.0.1:0")
	cmd.Env = s.env
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("docsearch serve: %v", err)
		}
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, endpoint, ok := strings.Cut(strings.TrimSpace(line), "serving on ")
	if err != nil || !ok {
		t.Fatalf("%v: it says %q", err, line)
	}
	return stop, strings.TrimSuffix(endpoint, "/mcp"), token
}

// A front is a proxy before the server that can make it fail for hooks.
type front struct {
	*httptest.Server
	mode atomic.Value // "", slow, error, garbage; "down" is passed on
}

func newFront(t *testing.T, address string) *front {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
	f := &front{}
	f.mode.Store("")
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch f.mode.Load() {
		case "slow": // a hook that waits denies the search after all
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			select {
			case <-time.After(30 * time.Second):
			case <-r.Context().Done():
				return
			}
		case "error":
			http.Error(w, "oops", http.StatusInternalServerError)
			return
		case "garbage":
			io.WriteString(w, "<html>made-up login page</html>")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// forgetServers removes the records of servers that did not answer.
func (s *session) forgetServers(t *testing.T) {
	t.Helper()
	records, err := filepath.Glob(filepath.Join(s.home, ".cache", "docsearch", "server-*.down"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range records {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// runHook runs the hook with the web search and checks that it does not deny it.
func (s *session) runHook(t *testing.T) {
	t.Helper()
	cmd := exec.Command(program(t), "hook")
	cmd.Env = s.env
	event, err := json.Marshal(map[string]any{"tool_name": "WebSearch", "tool_input": map[string]any{"query": question}})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(string(event))
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("%v: the hook says %s", err, out)
	}
}
