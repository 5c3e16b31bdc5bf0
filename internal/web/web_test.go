package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"runtime"
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
	otherBase := "/" + strings.Repeat("A", len(s.base)-1)
	for _, test := range []struct {
		name, method, path string // BASE is the secret base
		client             *http.Client
		change             func(*http.Request)
		want               int
	}{
		{"session", "GET", "BASE/", client, nil, 200},
		{"change with a session", "POST", "BASE/change", client, nil, 204},
		{"no session", "GET", "BASE/", stranger, nil, 401},
		{"wrong session", "GET", "BASE/", stranger, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: s.cookie, Value: "guess"}) }, 401},
		{"cookie of another server before ours", "GET", "BASE/", stranger, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: s.cookie, Value: "other"})
			r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.session})
		}, 200},
		{"session without the base", "GET", "/", stranger, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.session}) }, 401},
		{"session with another base", "GET", otherBase + "/", stranger, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.session}) }, 401},
		{"base without a slash", "GET", "BASE", client, nil, 401},
		{"wrong token", "GET", "BASE/login?token=" + "used", stranger, nil, 401},
		{"empty token", "GET", "BASE/login?token=", stranger, nil, 401},
		{"style without a session", "GET", "/static/style.css", stranger, nil, 200},
		{"style of a page", "GET", "BASE/static/style.css", client, nil, 200},
		{"unknown file", "GET", "/static/nothing.css", stranger, nil, 404},
		{"path traversal", "GET", "/static/..%2Fweb.go", stranger, nil, 404},
		{"unknown path", "GET", "BASE/nothing", client, nil, 404},
		{"unknown path without a session", "GET", "BASE/nothing", stranger, nil, 401},
		{"wrong method", "DELETE", "BASE/", client, nil, 405},
		{"rebinding", "GET", "BASE/", client, func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"rebinding with the port", "GET", "BASE/", client, func(r *http.Request) { r.Host = "evil.example:80" }, 421},
		{"other origin", "POST", "BASE/change", client, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"other port", "POST", "BASE/change", client, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"other site", "POST", "BASE/change", client, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"same site", "POST", "BASE/change", client, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := strings.Replace(test.path, "BASE", s.base, 1)
			status, body := do(t, test.client, test.method, "http://"+s.listening.Addr().String()+path, test.change)
			if status != test.want {
				t.Errorf("status %d, want %d: %s", status, test.want, body)
			}
			if status >= 400 && test.client == stranger && strings.Contains(body, s.base) {
				t.Errorf("a refusal tells the base: %s", body)
			}
		})
	}
}

// The browser sends the cookie to this server only: to other ports of the host, requests
// have other paths. It opens a file that only this user can read, not an address.
func TestSession(t *testing.T) {
	s := start(t, Options{})
	path, err := s.WriteRedirect()
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	page, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(page), s.LoginURL()) || strings.Contains(path, s.login) || strings.Contains(path, s.base) {
		t.Errorf("%s: %s, %v", path, page, err)
	}
	client := signIn(t, s)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
	for address, want := range map[string]int{
		s.URL() + "/":              1,
		s.URL() + "/search?q=x":    1,
		"http://127.0.0.1:1/":      0,
		"http://127.0.0.1:1/login": 0,
		"http://127.0.0.1/static/": 0,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.Jar.Cookies(u); len(got) != want {
			t.Errorf("cookies for %s: %v, want %d", address, got, want)
		}
	}
}

// A second use of the token from elsewhere ends the session, whoever was first, and is
// reported. Other wrong requests, and looks ahead, do not.
func TestTokenTwice(t *testing.T) {
	s := start(t, Options{})
	stolen := make(chan struct{}, 2)
	s.Stolen = func() { stolen <- struct{}{} }
	other := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(other.CloseIdleConnections)
	get := func(c *http.Client, method, address string, change func(*http.Request)) int {
		t.Helper()
		status, _ := do(t, c, method, address, change)
		return status
	}
	prefetch := func(r *http.Request) { r.Header.Set("Sec-Purpose", "prefetch") }
	if get(other, http.MethodHead, s.LoginURL(), nil) != 401 || get(other, http.MethodGet, s.LoginURL(), prefetch) != 401 || get(other, http.MethodGet, s.LoginURL()+"x", nil) != 401 {
		t.Error("a look ahead or a wrong token signs in")
	}
	client := signIn(t, s)
	if get(client, http.MethodGet, s.LoginURL(), nil) != 200 || get(client, http.MethodGet, s.URL()+"/", nil) != 200 || len(stolen) > 0 {
		t.Error("the address does not load again in the same browser")
	}
	if got := get(other, http.MethodGet, s.LoginURL(), nil); got != 401 {
		t.Errorf("second use of the address: %d, want 401", got)
	}
	<-stolen
	if got := get(client, http.MethodGet, s.URL()+"/", nil); got != 401 {
		t.Errorf("the session after that: %d, want 401", got)
	}
	if get(client, http.MethodGet, s.LoginURL(), nil) != 401 || get(other, http.MethodGet, s.LoginURL(), nil) != 401 || len(stolen) > 0 {
		t.Error("a third use signs in, or is reported again")
	}
}

func TestHeaders(t *testing.T) {
	s := start(t, Options{})
	c := signIn(t, s)
	res, err := c.Get(s.URL() + "/")
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
