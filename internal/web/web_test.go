package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
)

// start serves the page on a free port until the test ends.
func start(t *testing.T, opt Options) *Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if opt.Catalog == nil {
		opt.Catalog = catalogOf(t)
	}
	s, err := New(l, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// signIn returns a client with a session.
func signIn(t *testing.T, s *Server) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	if status, body := do(t, c, http.MethodGet, s.LoginURL(), nil); status != http.StatusOK {
		t.Fatalf("sign in: %d %s", status, body)
	}
	return c
}

// do sends a request and returns the response.
func do(t *testing.T, c *http.Client, method, address string, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestChecks(t *testing.T) {
	s := start(t, Options{})
	s.HandleFunc("POST /change", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	client := signIn(t, s)
	stranger := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(stranger.CloseIdleConnections)
	for _, test := range []struct {
		name, method, path string
		client             *http.Client
		change             func(*http.Request)
		want               int
	}{
		{"session", "GET", "/", client, nil, 200},
		{"change with a session", "POST", "/change", client, nil, 204},
		{"no session", "GET", "/", stranger, nil, 401},
		{"wrong session", "GET", "/", stranger, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: s.cookie, Value: "guess"}) }, 401},
		{"used token", "GET", "/login?token=" + "used", stranger, nil, 401},
		{"empty token", "GET", "/login?token=", stranger, nil, 401},
		{"style without a session", "GET", "/static/style.css", stranger, nil, 200},
		{"unknown file", "GET", "/static/nothing.css", stranger, nil, 404},
		{"path traversal", "GET", "/static/..%2Fweb.go", stranger, nil, 404},
		{"unknown path", "GET", "/nothing", client, nil, 404},
		{"wrong method", "DELETE", "/", client, nil, 405},
		{"rebinding", "GET", "/", client, func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"rebinding with the port", "GET", "/", client, func(r *http.Request) { r.Host = "evil.example:80" }, 421},
		{"other origin", "POST", "/change", client, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"other port", "POST", "/change", client, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"other site", "POST", "/change", client, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"same site", "POST", "/change", client, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			if status, body := do(t, test.client, test.method, "http://"+s.listening.Addr().String()+test.path, test.change); status != test.want {
				t.Errorf("status %d, want %d: %s", status, test.want, body)
			}
		})
	}
}

func TestLoginOnce(t *testing.T) {
	s := start(t, Options{})
	address := s.LoginURL()
	signIn(t, s)
	other := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(other.CloseIdleConnections)
	if status, _ := do(t, other, http.MethodGet, address, nil); status != http.StatusUnauthorized {
		t.Errorf("second use of the address: %d, want 401", status)
	}
}

func TestHeaders(t *testing.T) {
	s := start(t, Options{})
	c := signIn(t, s)
	res, err := c.Get("http://" + s.listening.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	policy := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q permits inline code", policy)
	}
	if res.Header.Get("X-Frame-Options") != "DENY" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", res.Header)
	}
}

// TestLoopbackOnly holds that the page is for this machine.
func TestLoopbackOnly(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := New(elsewhere{l}, Options{}); err == nil {
		t.Error("New accepts a listener that other machines can reach")
	}
}

// elsewhere is a listener on an address that other machines can reach.
type elsewhere struct{ net.Listener }

func (elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func TestStream(t *testing.T) {
	s := start(t, Options{})
	s.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) {
		e, err := s.OpenStream(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		defer e.Close()
		if err := e.Send("part", "<p>a\r\nb\rc</p>"); err != nil {
			t.Error(err)
		}
	})
	_, body := do(t, signIn(t, s), http.MethodGet, "http://"+s.listening.Addr().String()+"/live", nil)
	if want := "event: part\ndata: <p>a\ndata: b\ndata: c</p>\n\n"; body != want {
		t.Errorf("stream %q, want %q", body, want)
	}
	if len(s.streams) != 0 {
		t.Error("a closed stream occupies room")
	}
}
