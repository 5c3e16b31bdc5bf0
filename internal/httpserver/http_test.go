package httpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
)

const (
	ping       = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	searchCall = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"` + indextest.Question + `","keywords":["zymotic"]%s}}}`
)

// newServer returns a server of the databases.
func newServer(t testing.TB, opt Options, entries ...mcpserver.Entry) *Server {
	t.Helper()
	opt.Catalog = &mcpserver.Catalog{Entries: Readable(func() []mcpserver.Entry { return entries })}
	t.Cleanup(opt.Catalog.Close)
	opt.MCP = mcpserver.New(mcpserver.Options{Catalog: opt.Catalog, Called: Called})
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves until the test ends or stop is called, and returns the server's URL.
func start(t testing.TB, s *Server) (url string, stop func()) {
	t.Helper()
	l, err := s.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return s.Scheme() + "://" + l.Addr().String(), stop
}

// newTokens returns a file of tokens.
func newTokens(t testing.TB) *accesstoken.File {
	return accesstoken.Open(filepath.Join(t.TempDir(), "tokens.json"))
}

// newToken makes a token.
func newToken(t testing.TB, f *accesstoken.File, name string, expires time.Time, scopes ...string) string {
	t.Helper()
	text, err := f.New(name, scopes, time.Now(), expires)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// send sends a request and returns the status, the header and the body of the response.
func send(t testing.TB, client *http.Client, method, url, body, host string, header http.Header) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		r.Header[k] = v
	}
	r.Host = host
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(data)
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func TestListen(t *testing.T) {
	empty := newTokens(t)
	filled := newTokens(t)
	newToken(t, filled, "a", time.Time{}, accesstoken.ScopeRead)
	if err := filled.Revoke("a"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		addr, token string
		tokens      *accesstoken.File
		wantErr     string
	}{
		{"127.0.0.1:0", "", nil, ""},
		{"localhost:0", "", empty, ""},
		{"127.0.0.1:0", "secret", nil, ""},
		{":0", "secret", nil, ""},
		{":0", "", filled, ""}, // all were revoked: nobody may read
		{":0", "", nil, "a token is required"},
		{":0", "", empty, "a token is required"},
		{"0.0.0.0:0", "", nil, "a token is required"},
		{"[::]:0", "", nil, "a token is required"},
		{"example.org:0", "", nil, "a token is required"},
		{"7373", "", nil, "want HOST:PORT"},
		{"", "", nil, "want HOST:PORT"},
	} {
		l, err := newServer(t, Options{Token: tt.token, Tokens: tt.tokens}).Listen(t.Context(), tt.addr)
		got := ""
		if err == nil {
			l.Close()
		} else {
			got = err.Error()
		}
		if !strings.Contains(got, tt.wantErr) || (got == "") != (tt.wantErr == "") {
			t.Errorf("Listen(%q, %q): %q, want %q", tt.addr, tt.token, got, tt.wantErr)
		}
	}
}

// TestRefusals lists the requests that the server refuses, with their statuses.
func TestRefusals(t *testing.T) {
	db := mcpserver.Entry{Name: "gitlab", Path: indextest.Database(t, 100), Description: "GitLab documentation"}
	tokens := newTokens(t)
	reader := newToken(t, tokens, "reader", time.Time{}, "read:gitlab")
	stranger := newToken(t, tokens, "stranger", time.Time{}, "read:other")
	meter := newToken(t, tokens, "meter", time.Time{}, "metrics")
	expired := newToken(t, tokens, "expired", time.Now().Add(-time.Hour), "read")
	revoked := newToken(t, tokens, "revoked", time.Time{}, "read")
	if err := tokens.Revoke("revoked"); err != nil {
		t.Fatal(err)
	}
	issuer := newTestIssuer(t)
	const public = "https://docs.example.com"
	open, _ := start(t, newServer(t, Options{}, db))
	closed, _ := start(t, newServer(t, Options{Tokens: tokens, Issuer: NewIssuer(issuer.url, ""), PublicURL: public}, db))
	jwt := func(change func(claims map[string]any)) http.Header {
		return bearer(issuer.token(t, public+Endpoint, change))
	}
	call := strings.Replace(searchCall, "%s", "", 1)
	ask := `{"databases":["gitlab"],"query":"` + indextest.Question + `"}`

	const post = http.MethodPost
	for _, tt := range []struct {
		name, method, url, body string
		header                  http.Header
		host                    string
		status                  int
		text                    string // in the body, or in WWW-Authenticate if the status is 401 or 403
	}{
		// Served, so that the refusals below have one reason only.
		{"open", post, open + Endpoint, ping, nil, "", 200, `"result":{}`},
		{"own page", post, open + Endpoint, ping, http.Header{"Origin": {"http://localhost:3000"}}, "", 200, `"result":{}`},
		{"token", post, closed + Endpoint, call, bearer(reader), "", 200, indextest.Answer},
		{"public name", post, closed + Endpoint, ping, bearer(reader), "docs.example.com", 200, `"result":{}`},
		{"JWT", post, closed + Endpoint, call, jwt(nil), "", 200, indextest.Answer},
		{"answer", post, closed + remote.AnswerPath, ask, bearer(reader), "", 200, indextest.Answer},
		{"weights of the terms", post, closed + remote.AnswerPath, ask, bearer(reader), "", 200, `"weights":[{"start":"`},
		{"health needs no token", "GET", closed + healthPath, "", nil, "10.1.2.3", 200, "ok"},
		{"metrics", "GET", closed + metricsPath, "", bearer(meter), "", 200, "docsearch_requests_total"},

		{"no token", post, closed + Endpoint, ping, nil, "", 401, `resource_metadata="https://docs.example.com/.well-known/oauth-protected-resource/mcp"`},
		{"unknown token", post, closed + Endpoint, ping, bearer("docsearch_x"), "", 401, `error="invalid_token"`},
		{"part of a token", post, closed + Endpoint, ping, bearer(reader[:20]), "", 401, `error="invalid_token"`},
		{"empty token", post, closed + Endpoint, ping, bearer(""), "", 401, "Bearer"},
		{"token of another kind", post, closed + Endpoint, ping, http.Header{"Authorization": {"Basic " + reader}}, "", 401, "Bearer"},
		{"token alone", post, closed + Endpoint, ping, http.Header{"Authorization": {reader}}, "", 401, "Bearer"},
		{"token in the URL", post, closed + Endpoint + "?access_token=" + reader, ping, nil, "", 401, "Bearer"},
		{"expired token", post, closed + Endpoint, ping, bearer(expired), "", 401, `error="invalid_token"`},
		{"revoked token", post, closed + Endpoint, ping, bearer(revoked), "", 401, `error="invalid_token"`},

		{"expired JWT", post, closed + Endpoint, ping, jwt(func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }), "", 401, `error="invalid_token"`},
		{"JWT without an end", post, closed + Endpoint, ping, jwt(func(c map[string]any) { delete(c, "exp") }), "", 401, `error="invalid_token"`},
		{"JWT for another audience", post, closed + Endpoint, ping, jwt(func(c map[string]any) { c["aud"] = "https://other.example.com/mcp" }), "", 401, `error="invalid_token"`},
		{"JWT of another issuer", post, closed + Endpoint, ping, jwt(func(c map[string]any) { c["iss"] = "https://evil.example" }), "", 401, `error="invalid_token"`},
		{"JWT with another signature", post, closed + Endpoint, ping, bearer(forged(issuer.token(t, public+Endpoint, nil))), "", 401, `error="invalid_token"`},
		{"JWT without a signature", post, closed + Endpoint, ping, bearer(unsigned(issuer.token(t, public+Endpoint, nil))), "", 401, `error="invalid_token"`},
		{"JWT signed with the public key", post, closed + Endpoint, ping, bearer(issuer.symmetric(t, public+Endpoint)), "", 401, `error="invalid_token"`},
		{"JWT without a scope", post, closed + Endpoint, ping, jwt(func(c map[string]any) { c["scope"] = "openid read" }), "", 403, `error="insufficient_scope"`},

		{"metrics with a reader's token", "GET", closed + metricsPath, "", bearer(reader), "", 403, `error="insufficient_scope"`},
		{"search with a token for metrics", post, closed + Endpoint, ping, bearer(meter), "", 403, `error="insufficient_scope"`},
		{"answer from another database", post, closed + remote.AnswerPath, ask, bearer(stranger), "", 404, "database not found"},
		{"list without the other databases", "GET", closed + remote.DatabasesPath, "", bearer(stranger), "", 200, `{"databases":[]}`},
		{"search in another database", post, closed + Endpoint, strings.Replace(searchCall, "%s", `,"database":"gitlab"`, 1), bearer(stranger), "", 200, `database \"gitlab\" not found; available: none`},
		{"search by path", post, closed + Endpoint, strings.Replace(searchCall, "%s", `,"path":"`+filepath.ToSlash(db.Path)+`x"`, 1), bearer(reader), "", 200, "not found; available: gitlab"},

		{"other origin", post, open + Endpoint, ping, http.Header{"Origin": {"https://evil.example"}}, "", 403, ""},
		{"sandboxed page", post, open + Endpoint, ping, http.Header{"Origin": {"null"}}, "", 403, ""},
		{"other host", post, open + Endpoint, ping, nil, "evil.example", 403, ""},
		{"other host with its origin", post, open + Endpoint, ping, http.Header{"Origin": {"http://evil.example"}}, "evil.example", 403, ""},
		{"other host with a token", post, closed + Endpoint, ping, bearer(reader), "evil.example", 403, ""},

		{"no path", "GET", closed + "/", "", bearer(reader), "", 404, ""},
		{"path with a slash", post, closed + Endpoint + "/", ping, bearer(reader), "", 404, ""},
		{"path with two slashes", post, closed + "/" + Endpoint, ping, bearer(reader), "", 404, ""},
		{"path with dots", post, closed + "/v1/.." + Endpoint, ping, bearer(reader), "", 404, ""},
		{"path with escapes", post, closed + "/%6dcp", ping, bearer(reader), "", 404, ""},
		{"path with escaped dots", "GET", closed + "/healthz/%2e%2e/metrics", "", nil, "", 404, ""},
		{"path in capitals", post, closed + "/MCP", ping, bearer(reader), "", 404, ""},
		{"other method", "PUT", closed + Endpoint, ping, bearer(reader), "", 405, ""},
		{"answer by GET", "GET", closed + remote.AnswerPath, "", bearer(reader), "", 405, ""},
		{"form", post, open + Endpoint, ping, http.Header{"Content-Type": {"text/plain"}}, "", 400, ""},
		{"answer without a query", post, closed + remote.AnswerPath, `{"databases":["gitlab"]}`, bearer(reader), "", 400, ""},
		{"answer without databases", post, closed + remote.AnswerPath, `{"query":"x"}`, bearer(reader), "", 400, ""},
		{"answer to a long query", post, closed + remote.AnswerPath, `{"databases":["gitlab"],"query":"` + strings.Repeat("x ", 10_000) + `"}`, bearer(reader), "", 400, ""},
		{"answer about a long URL", post, closed + remote.AnswerPath, `{"databases":["gitlab"],"url":"https://e.com/` + strings.Repeat("x", 20_000) + `"}`, bearer(reader), "", 400, ""},
		{"search with a long query", post, closed + remote.SearchPath, `{"databases":["gitlab"],"query":"` + strings.Repeat("x ", 450_000) + `"}`, bearer(reader), "", 400, "want at most 16384"},
		{"search with long keywords", post, closed + remote.SearchPath, `{"databases":["gitlab"],"query":"x","keywords":["` + strings.Repeat("x ", 10_000) + `"]}`, bearer(reader), "", 400, "want at most 16384"},
		{"read with a long name", post, closed + remote.ReadPath, `{"databases":["gitlab"],"name":"` + strings.Repeat("x ", 10_000) + `"}`, bearer(reader), "", 400, ""},
		{"tool with a long query", post, closed + Endpoint, strings.Replace(searchCall, "%s", `,"filter":"`+strings.Repeat("x ", 450_000)+`"`, 1), bearer(reader), "", 200, "want at most 16384"},
		{"answer to no JSON", post, closed + remote.AnswerPath, `{`, bearer(reader), "", 400, ""},
		{"too many hits", post, closed + remote.SearchPath, `{"databases":["gitlab"],"query":"x","top_k":1000000}`, bearer(reader), "", 400, ""},
		{"too many neighbors", post, closed + remote.ReadPath, `{"databases":["gitlab"],"name":"0","neighbors":1000000}`, bearer(reader), "", 400, ""},
		{"too long", post, open + Endpoint, strings.Repeat(" ", maxBody+1), nil, "", 413, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, header, body := send(t, http.DefaultClient, tt.method, tt.url, tt.body, tt.host, tt.header)
			if status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, body)
			}
			where := body
			if status == 401 || status == 403 && strings.Contains(tt.text, "scope") {
				where = header.Get("WWW-Authenticate")
			}
			if !strings.Contains(where, tt.text) {
				t.Errorf("%q is missing in %s", tt.text, where)
			}
			for _, secret := range []string{reader, filepath.ToSlash(db.Path)} {
				if tt.name != "search by path" && strings.Contains(body, secret) {
					t.Errorf("the response contains %q: %s", secret, body)
				}
			}
		})
	}
}

// A flood of one token does not slow down the others.
func TestFlood(t *testing.T) {
	tokens := newTokens(t)
	loud, quiet := newToken(t, tokens, "loud", time.Time{}, "read"), newToken(t, tokens, "quiet", time.Time{}, "read")
	url, _ := start(t, newServer(t, Options{Tokens: tokens, Rate: 10}))
	refused := 0
	for range 60 {
		status, header, _ := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, ping, "", bearer(loud))
		if status == http.StatusTooManyRequests && header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused < 20 || refused > 40 {
		t.Errorf("%d of 60 requests were refused, want all but the first 20 and those of the time passed", refused)
	}
	if status, _, body := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, ping, "", bearer(quiet)); status != http.StatusOK {
		t.Errorf("another token: status %d: %s", status, body)
	}
}

func TestClientLimits(t *testing.T) {
	var l clientLimits
	client := func(name string) clientID { return clientID{kindToken, name} }
	now := time.Now()
	for i := range maxPerClient {
		if !l.begin(client("a"), false, 1000, now) {
			t.Fatalf("request %d was refused", i)
		}
	}
	if l.begin(client("a"), false, 1000, now) || !l.begin(client("a"), true, 1000, now) || !l.begin(client("b"), false, 1000, now) {
		t.Error("the limit of concurrent requests is not per client, or counts streams")
	}
	l.end(client("a"), false)
	if !l.begin(client("a"), false, 1000, now) {
		t.Error("the end of a request is not counted")
	}
	for i := range 2 * maxClients {
		id := client(string(rune('A' + i)))
		l.begin(id, false, 1, now)
		l.end(id, false)
		now = now.Add(time.Millisecond)
	}
	if n := len(l.by); n > maxClients {
		t.Errorf("%d idle clients are remembered", n)
	}
}

// The server keeps no state of clients, whatever their number and names.
func TestKeepsNothingOfClients(t *testing.T) {
	url, _ := start(t, newServer(t, Options{Rate: 1e6}))
	initialize := func(name string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":{"y":"` + name +
			`"}}},"clientInfo":{"name":"` + name + `","version":"1"}}}`
		status, header, _ := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, body, "", nil)
		if status != http.StatusOK || header.Get("Mcp-Session-Id") == "" {
			t.Fatalf("status %d, session %q", status, header.Get("Mcp-Session-Id"))
		}
	}
	initialize("warm")
	before := heapInUse()
	for range 200 {
		initialize(strings.Repeat("x", 100<<10))
	}
	if grown := heapInUse() - before; grown > 16<<20 {
		t.Errorf("the server has %d MB more in use", grown>>20)
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A body that does not arrive is abandoned.
func TestSlowBody(t *testing.T) {
	s := newServer(t, Options{})
	s.bodyTime = 50 * time.Millisecond
	url, _ := start(t, s)
	body, writer := io.Pipe()
	defer writer.Close()
	go writer.Write([]byte(`{"jsonrpc":"2.0",`))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+Endpoint, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestTimeout {
		t.Errorf("status %d", res.StatusCode)
	}
}

// A client that does not read its responses loses its connection, and the time limit of one
// request does not end a later one on the same connection.
func TestSlowReader(t *testing.T) {
	docs := mcpserver.Entry{Name: "docs", Path: indextest.Database(t, 500)}
	s := newServer(t, Options{Rate: 1e6}, docs)
	s.bodyTime, s.responseTime = 50*time.Millisecond, 100*time.Millisecond
	url, _ := start(t, s)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	body := strings.Replace(searchCall, "%s", `,"top_k":100,"max_tokens":25000`, 1)
	search := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", Endpoint, len(body), body)
	deaf := dial()
	deaf.(*net.TCPConn).SetReadBuffer(4096)
	deaf.SetWriteDeadline(time.Now().Add(20 * time.Second))
	var err error
	for err == nil { // until the server closes the connection
		_, err = io.WriteString(deaf, search)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server waits for a client that does not read")
	}
	s = newServer(t, Options{Rate: 1e6}, docs)
	s.web.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateIdle { // the time limit of the last request ends
			c.SetWriteDeadline(time.Unix(1, 0))
		}
	}
	url, _ = start(t, s)
	calm := dial()
	responses := bufio.NewReader(calm)
	for i, request := range []string{search, search, "GET " + healthPath + " HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		io.WriteString(calm, request)
		res, err := http.ReadResponse(responses, nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("request %d: %v", i, err)
		}
		io.Copy(io.Discard, res.Body)
	}
}

// A client that waits for notifications does not block shutdown. While the server drains,
// it is not ready, but answers.
func TestStops(t *testing.T) {
	s := newServer(t, Options{Drain: 2 * time.Second})
	url, stop := start(t, s)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+Endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", "any")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	if status, _, _ := send(t, http.DefaultClient, http.MethodGet, url+readyPath, "", "", nil); status != http.StatusOK {
		t.Errorf("ready: status %d", status)
	}
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	for status := http.StatusOK; status != http.StatusServiceUnavailable; {
		status, _, _ = send(t, http.DefaultClient, http.MethodGet, url+readyPath, "", "", nil)
	}
	if status, _, _ := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, ping, "", nil); status != http.StatusOK {
		t.Errorf("draining: status %d", status)
	}
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Error("the server is still running")
	}
}

// The audit log names the client and the databases, and contains neither the query, the
// passages nor the token.
func TestAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	audit, err := OpenAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	tokens := newTokens(t)
	token := newToken(t, tokens, "amy@laptop", time.Time{}, "read")
	s := newServer(t, Options{Tokens: tokens, Audit: audit}, mcpserver.Entry{Name: "gitlab", Path: indextest.Database(t, 100)})
	url, _ := start(t, s)
	call := strings.Replace(searchCall, "%s", `,"database":"gitlab"`, 1)
	if status, _, body := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, call, "", bearer(token)); status != 200 || !strings.Contains(body, indextest.Answer) {
		t.Fatalf("status %d: %s", status, body)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Skipf("cannot rename an open file: %v", err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	send(t, http.DefaultClient, http.MethodPost, url+Endpoint, call, "", bearer("wrong"))
	send(t, http.DefaultClient, http.MethodGet, url+healthPath, "", "", nil)
	line := func(path string) (fields map[string]any) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil || bytes.Count(data, []byte("\n")) != 1 {
			t.Fatalf("want one line, got %q, %v", data, err)
		}
		for _, secret := range []string{"zymotic", "certificate", token, "wrong"} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%q is in %s", secret, data)
			}
		}
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		return fields
	}
	if got := line(path + ".1"); got["client"] != "amy@laptop" || got["tool"] != "search" || got["status"] != 200.0 || got["databases"].([]any)[0] != "gitlab" || got["bytes"].(float64) == 0 {
		t.Errorf("call: %v", got)
	}
	if got := line(path); got["refused"] != "token" || got["status"] != 401.0 || got["client"] != "" {
		t.Errorf("refusal: %v", got)
	}
}

// A passage's response is complete, compressed, and without the server's folders.
func TestAPI(t *testing.T) {
	dir := indextest.Database(t, 200)
	url, _ := start(t, newServer(t, Options{}, mcpserver.Entry{Name: "gitlab", Path: dir, Keywords: []string{"gl"}, Description: "d"},
		mcpserver.Entry{Name: "broken", Path: filepath.Join(dir, "none")}))
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	body := `{"databases":["GitLab","broken","nothing"],"query":"` + indextest.Question + `"}`
	for _, path := range []string{remote.AnswerPath, remote.SearchPath} {
		_, plain, text := send(t, client, http.MethodPost, url+path, body, "", nil)
		_, packed, short := send(t, client, http.MethodPost, url+path, body, "", http.Header{"Accept-Encoding": {"gzip"}})
		if plain.Get("Content-Encoding") != "" || packed.Get("Content-Encoding") != "gzip" || len(short) >= len(text) {
			t.Errorf("%s: %d bytes, compressed %d: %q", path, len(text), len(short), packed)
		}
		for _, want := range []string{`"gitlab":{`, indextest.Answer, `"broken":{"error":"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in %s", path, want, text)
			}
		}
		if strings.Contains(text, dir) || strings.Contains(text, "nothing") {
			t.Errorf("%s: got %s", path, text)
		}
	}
	_, _, list := send(t, client, http.MethodGet, url+remote.DatabasesPath, "", "", nil)
	if want := `{"databases":[{"name":"gitlab","description":"d","keywords":["gl"],"passages":200,"documents":29},{"name":"broken"}]}`; list != want {
		t.Errorf("got %s, want %s", list, want)
	}
}

// The version that the client's project uses arrives with a question, and the result says
// that it is of another one.
func TestAPIVersion(t *testing.T) {
	url, _ := start(t, newServer(t, Options{}, mcpserver.Entry{Name: "gitlab", Path: indextest.Database(t, 200), Version: "17.2", Software: []string{"node:gitlab"}}))
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for used, want := range map[string]bool{"16.1": true, "17.2.4": false, "not\na version": false} {
		body, err := json.Marshal(map[string]any{"databases": []string{"gitlab"}, "query": indextest.Question, "used": map[string]string{"gitlab": used}})
		if err != nil {
			t.Fatal(err)
		}
		_, _, text := send(t, client, http.MethodPost, url+remote.SearchPath, string(body), "", nil)
		if strings.Contains(text, "documentation of 17.2; this project uses 16.1") != want || !strings.Contains(text, indextest.Answer) {
			t.Errorf("used %q: %s", used, text)
		}
		if _, _, text := send(t, client, http.MethodPost, url+remote.AnswerPath, string(body), "", nil); !strings.Contains(text, `"version":"17.2"`) {
			t.Errorf("the answer of another version: %s", text)
		}
	}
	_, _, list := send(t, client, http.MethodGet, url+remote.DatabasesPath, "", "", nil)
	if !strings.Contains(list, `"packages":["node:gitlab"]`) {
		t.Errorf("got %s", list)
	}
}
