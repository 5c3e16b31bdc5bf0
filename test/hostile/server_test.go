package hostile

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A teamServer is a server with a token and a database of kettles, for the time of a test.
type teamServer struct {
	*sandbox
	address      string
	token, meter string
	client       *http.Client
}

func newTeamServer(t *testing.T, args ...string) *teamServer {
	s := &teamServer{sandbox: newSandbox(t), client: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	t.Cleanup(s.client.CloseIdleConnections)
	s.write(filepath.Join(s.work, "docs", "kettle.md"), "# Kettle\n\n## Descaling\n\nFill the kettle with vinegar and boil it to descale the heating element.\n")
	s.must(s.docsearch("index", "build", filepath.Join(s.work, "docs"), "--name", "kettles", "--quiet"))
	s.token = strings.TrimSpace(s.must(s.docsearch("token", "new", "amy")).stdout)
	s.meter = strings.TrimSpace(s.must(s.docsearch("token", "new", "meter", "--metrics")).stdout)
	line := s.serveHTTP(append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	s.address = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
	if s.address == "" {
		t.Fatalf("no address in %q", line)
	}
	return s
}

// serveHTTP starts a server, which ends with the test, and returns its first line.
func (s *sandbox) serveHTTP(args ...string) string {
	s.Helper()
	cmd := exec.Command(*binary, args...)
	cmd.Dir, cmd.Env = s.work, s.env
	in, out, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	out.Close()
	s.Cleanup(func() {
		stop := os.Interrupt
		if runtime.GOOS == "windows" {
			stop = os.Kill
		}
		cmd.Process.Signal(stop)
		cmd.Wait()
		in.Close()
	})
	lines := bufio.NewReader(in)
	line, err := lines.ReadString('\n')
	if err != nil {
		s.Fatal(err)
	}
	go io.Copy(io.Discard, lines)
	return line
}

// dial opens a connection and sends text on it.
func (s *teamServer) dial(text string) net.Conn {
	s.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil && !errors.Is(err, net.ErrClosed) {
		s.Log(err)
	}
	return c
}

// ask sends a request with the token, or with another one, and returns the response.
func (s *teamServer) ask(method, path, body, token string) (status int, text string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream, text/html")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.Errorf("%s: %v", path, err)
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.Error(err)
	}
	return res.StatusCode, string(data)
}

const hookQuestion = `{"databases":["kettles"],"query":"kettles descale heating element vinegar"}`

// requireAnswer fails the test unless a hook with a token gets its answer, and health.
func (s *teamServer) requireAnswer() {
	s.Helper()
	if status, text := s.ask(http.MethodPost, "/v1/answer", hookQuestion, s.token); status != http.StatusOK || !strings.Contains(text, "kettles") {
		s.Errorf("answer: status %d: %s", status, text)
	}
	if status, text := s.ask(http.MethodGet, "/healthz", "", ""); status != http.StatusOK {
		s.Errorf("health: status %d: %s", status, text)
	}
}

// Bodies that do not arrive, from clients without a token, do not delay a hook's answer: it
// arrives before the server gives one of them up.
func TestServerSlowBodies(t *testing.T) {
	s := newTeamServer(t)
	gaveUp := func() string {
		_, text := s.ask(http.MethodGet, "/metrics", "", s.meter)
		return regexp.MustCompile(`docsearch_refused_requests_total\{reason="body"\} \d+|$`).FindString(text)
	}
	for range 5 { // on a busy machine, the answer may be late itself
		before := gaveUp()
		for range 64 {
			s.dial("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nt")
		}
		s.requireAnswer()
		if gaveUp() == before {
			return
		}
	}
	t.Error("a hook's answer waits for bodies that do not arrive")
}

// As many connections as the server has, each idle after a request, keep nobody out.
func TestServerIdleConnections(t *testing.T) {
	s := newTeamServer(t)
	for range 1100 {
		c := s.dial("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			break // no further connection is served
		}
	}
	s.requireAnswer()
}

// No answer of the server contains a folder of the server, whatever is asked and whatever
// is broken.
func TestServerShowsNoFolder(t *testing.T) {
	s := newTeamServer(t, "--leann-compat")
	data := filepath.Join(s.home, ".local", "share", "docsearch")
	kettles := filepath.Join(data, "kettles")
	if _, err := os.Stat(kettles); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		answers := map[string]string{}
		get := func(path string) { _, answers["GET "+path] = s.ask(http.MethodGet, path, "", s.token) }
		post := func(path, body string) {
			_, answers["POST "+path+" "+body] = s.ask(http.MethodPost, path, body, s.token)
		}
		for _, path := range []string{"/healthz", "/readyz", "/metrics", "/v1/databases", "/nothing", "/", "/?q=kettle+vinegar&agent=1", "/search?q=kettle+vinegar",
			"/read?db=kettles&ref=0", "/read?db=kettles&ref=kettle.md", "/read?db=none&ref=x", "/read?db=kettles&ref=nothing", "/static/none"} {
			get(path)
		}
		post("/v1/answer", hookQuestion)
		post("/v1/answer", `{"databases":["kettles"],"url":"file://`+filepath.ToSlash(kettles)+`/x"}`)
		post("/v1/search", hookQuestion)
		post("/v1/search", `{"databases":["kettles"],"query":"kettle","filter":"path:"}`)
		post("/v1/read", `{"databases":["kettles"],"name":"0"}`)
		post("/v1/read", `{"databases":["kettles"],"name":"nothing"}`)
		post("/v1/answer", "{")
		for _, call := range []string{
			`"search","arguments":{"query":"kettle vinegar"}`, `"search","arguments":{"query":"kettle vinegar","detail":"full"}`,
			`"search","arguments":{"query":"kettle","database":"none"}`, `"search","arguments":{"query":"kettle","path":"/x"}`,
			`"read","arguments":{"database":"kettles","id":"0"}`, `"read","arguments":{"database":"kettles","id":"nothing"}`, `"read","arguments":{"id":"0"}`,
			`"list_databases","arguments":{}`, `"leann_list","arguments":{}`, `"leann_search","arguments":{"index_name":"kettles","query":"kettle vinegar"}`,
			`"leann_search","arguments":{"index_name":"none","query":"kettle"}`, `"none","arguments":{}`,
		} {
			post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+call+`}}`)
		}
		for _, method := range []string{"initialize", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "none"} {
			post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
		}
		post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"docsearch://kettles/0"}}`)
		for request, text := range answers {
			for _, folder := range []string{s.home, s.work} {
				if i := strings.Index(text, folder); i >= 0 {
					t.Errorf("%s: %s: %s", what, request, text[max(0, i-80):min(len(text), i+80)])
				}
			}
		}
	}
	check("intact")
	for _, broken := range []struct {
		what   string
		damage func() error
	}{
		{"with a damaged index", func() error { return damage(filepath.Join(kettles, "docsearch")) }},
		{"with a damaged manifest", func() error {
			return os.WriteFile(filepath.Join(kettles, "docsearch", "manifest.json"), []byte("{"), 0o600)
		}},
		{"without a manifest", func() error { return os.Remove(filepath.Join(kettles, "docsearch", "manifest.json")) }},
		{"without passages", func() error { return os.Remove(filepath.Join(kettles, "documents.leann.passages.jsonl")) }},
		{"without the index", func() error { return os.RemoveAll(filepath.Join(kettles, "docsearch")) }},
		{"without the database", func() error { return os.RemoveAll(kettles) }},
		{"with a file for the data folder", func() error { return errors.Join(os.RemoveAll(data), os.WriteFile(data, nil, 0o600)) }},
	} {
		if err := broken.damage(); err != nil {
			t.Fatal(err)
		}
		check(broken.what)
	}
}

// damage changes each byte of the files below a folder, except the manifest.
func damage(folder string) error {
	return filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "manifest.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := range data {
			data[i] ^= 0x55
		}
		return os.WriteFile(path, data, 0o600)
	})
}

// A query that is longer than the limit is refused at every entry, with the limit.
func TestServerEndlessQuery(t *testing.T) {
	s := newTeamServer(t, "--leann-compat")
	const limit = "16384"
	words := strings.Repeat("kettle ", 900_000/len("kettle "))
	tool := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{` + arguments + `}}}`
	}
	for _, request := range []struct{ path, body string }{
		{"/v1/answer", `{"databases":["kettles"],"query":"` + words + `"}`},
		{"/v1/search", `{"databases":["kettles"],"query":"` + words + `"}`},
		{"/mcp", tool("search", `"query":"`+words+`"`)},
		{"/mcp", tool("search", `"query":"kettle","keywords":["`+words+`"]`)},
		{"/mcp", tool("leann_search", `"index_name":"kettles","query":"`+words+`"`)},
	} {
		if _, text := s.ask(http.MethodPost, request.path, request.body, s.token); !strings.Contains(text, limit) {
			t.Errorf("%s %.60s: %.200s", request.path, request.body, text)
		}
	}
	long := words[:60_000] // the longest argument of a command has 128 KiB
	if r := s.docsearch("search", long); r.code != 1 || !strings.Contains(r.stderr, limit) {
		t.Errorf("search: code %d: %s", r.code, r.stderr)
	}
	if r := s.docsearch("why", long); !strings.Contains(r.stdout+r.stderr, limit) {
		t.Errorf("why: %s %s", r.stdout, r.stderr)
	}
}
