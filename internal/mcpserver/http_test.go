package mcpserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestListen(t *testing.T) {
	for _, tt := range []struct {
		addr, token, wantErr string
	}{
		{"127.0.0.1:0", "", ""},
		{"localhost:0", "", ""},
		{"127.0.0.1:0", "secret", ""},
		{":0", "secret", ""},
		{":0", "", "a token is required"},
		{"0.0.0.0:0", "", "a token is required"},
		{"[::]:0", "", "a token is required"},
		{"example.org:0", "", "a token is required"},
		{"7373", "", "want HOST:PORT"},
		{"", "", "want HOST:PORT"},
	} {
		l, err := Listen(t.Context(), tt.addr, tt.token)
		if err == nil {
			l.Close()
		}
		if got := errorText(err); !strings.Contains(got, tt.wantErr) || (got == "") != (tt.wantErr == "") {
			t.Errorf("Listen(%q, %q): %q, want %q", tt.addr, tt.token, got, tt.wantErr)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// startHTTP runs a server without databases until the test ends, and returns
// its URL.
func startHTTP(t *testing.T, token string) string {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0", token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := New(Options{Catalog: &Catalog{Entries: func() []Entry { return nil }}})
	ended := make(chan error, 1)
	go func() { ended <- s.ServeHTTP(ctx, l, token) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + Endpoint
}

func TestHTTPGuards(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	open, closed := startHTTP(t, ""), startHTTP(t, "s3cret")
	for _, tt := range []struct {
		name, url, body string
		header          http.Header
		host            string
		want            int
	}{
		{"open", open, ping, nil, "", 200},
		{"own page", open, ping, http.Header{"Origin": {"http://localhost:3000"}}, "", 200},
		{"other origin", open, ping, http.Header{"Origin": {"https://evil.example"}}, "", 403},
		{"sandboxed page", open, ping, http.Header{"Origin": {"null"}}, "", 403},
		{"rebound name", open, ping, nil, "evil.example", 403},
		{"rebound name with its origin", open, ping, http.Header{"Origin": {"http://evil.example"}}, "evil.example", 403},
		{"form", open, ping, http.Header{"Content-Type": {"text/plain"}}, "", 400},
		{"too long", open, strings.Repeat(" ", maxBody+1), nil, "", 413},
		{"other path", strings.TrimSuffix(open, Endpoint) + "/", ping, nil, "", 404},
		{"no token", closed, ping, nil, "", 401},
		{"wrong token", closed, ping, http.Header{"Authorization": {"Bearer secret"}}, "", 401},
		{"token of another kind", closed, ping, http.Header{"Authorization": {"Basic s3cret"}}, "", 401},
		{"token alone", closed, ping, http.Header{"Authorization": {"s3cret"}}, "", 401},
		{"token", closed, ping, http.Header{"Authorization": {"Bearer s3cret"}}, "", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for k, v := range tt.header {
				r.Header[k] = v
			}
			r.Host = tt.host
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.want, body)
			}
			if tt.want == 200 && !bytes.Contains(body, []byte(`"result":{}`)) {
				t.Errorf("got %s", body)
			}
		})
	}
}

// The server keeps no state of clients, whatever their number and names.
func TestHTTPKeepsNothingOfClients(t *testing.T) {
	url := startHTTP(t, "")
	initialize := func(name string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":{"y":"` + name +
			`"}}},"clientInfo":{"name":"` + name + `","version":"1"}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusOK || res.Header.Get("Mcp-Session-Id") == "" {
			t.Fatalf("status %d, session %q", res.StatusCode, res.Header.Get("Mcp-Session-Id"))
		}
	}
	initialize("warm")
	before := heapInUse()
	for range 500 {
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
func TestHTTPSlowBody(t *testing.T) {
	called := false
	s := httptest.NewServer(readMessages(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }), 50*time.Millisecond))
	defer s.Close()
	body, writer := io.Pipe()
	defer writer.Close()
	go writer.Write([]byte(`{"jsonrpc":"2.0",`))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestTimeout || called {
		t.Errorf("status %d, answered: %t", res.StatusCode, called)
	}
}

// TestHTTPStopsUnderAnOpenStream checks that a client that waits for
// notifications does not block shutdown.
func TestHTTPStopsUnderAnOpenStream(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := New(Options{Catalog: &Catalog{Entries: func() []Entry { return nil }}})
	ended := make(chan error, 1)
	go func() { ended <- s.ServeHTTP(ctx, l, "") }()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+Endpoint, nil)
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
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * shutdownTime):
		t.Error("the server is still running")
	}
}
