// Package web serves the web page of docsearch: search and read the documentation as the
// agent does, see what the hook did, and manage databases.
//
// A server is for the user of this machine. It listens on a loopback address, and
// everybody who can reach that address may be another user or a page in the user's
// browser. So a request passes these checks in order, and the first that fails answers it:
//
//	421  the Host header is not an address of this server (DNS rebinding)
//	403  a request that changes something comes from another origin
//	404  the path is not one of the server's
//	401  the session cookie is missing or wrong; files of the program need none
//
// LoginURL contains a token, which the server exchanges once for the cookie. The cookie is
// HttpOnly and SameSite=Strict. The content security policy permits no inline scripts and
// styles, and nothing from other hosts.
//
// Each page is a file of its own with a handler and a template of the same name. Other
// packages add pages with HandleFunc, AddSection, Render and OpenStream. Without script,
// pages are plain forms and links.
package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/docsearch/docsearch/internal/loopback"
)

const (
	loginPath  = "/login"
	staticPath = "/static/"
	// cookieName is the name of the session cookie. Cookies do not distinguish ports, so
	// New adds the port.
	cookieName = "docsearch"

	maxConnections = 256
	maxHeader      = 32 << 10
	maxForm        = 64 << 10 // bytes of a request's body
	shutdownTime   = 2 * time.Second
)

// A Server serves the page to one user.
type Server struct {
	*Site
	hosts     map[string]bool // allowed Host headers
	cookie    string          // name
	session   string          // value of the cookie
	origins   *http.CrossOriginProtection
	streams   chan struct{} // of size maxStreams
	stopping  chan struct{} // closed when the server stops
	mu        sync.Mutex    // protects login
	login     string        // token that signIn accepts; empty: used
	listening net.Listener
}

// New returns a server that serves on l, which must listen on a loopback address.
func New(l net.Listener, opt Options) (*Server, error) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	if !loopback.IsHost(host) {
		return nil, fmt.Errorf("cannot serve the page on %s: other machines can reach this address", l.Addr())
	}
	site, err := NewSite(opt)
	if err != nil {
		return nil, err
	}
	s := &Server{Site: site, listening: l, cookie: cookieName + port, session: rand.Text(), login: rand.Text(),
		hosts:   map[string]bool{net.JoinHostPort(host, port): true, "localhost:" + port: true},
		origins: http.NewCrossOriginProtection(), streams: make(chan struct{}, maxStreams), stopping: make(chan struct{})}
	s.HandleFunc("GET "+loginPath, s.signIn)
	return s, nil
}

// LoginURL returns the address to open in a browser. It works once.
func (s *Server) LoginURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "http://" + s.listening.Addr().String() + loginPath + "?token=" + s.login
}

// Serve serves requests until ctx is done, and closes the listener.
func (s *Server) Serve(ctx context.Context) error {
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(netutil.LimitListener(s.listening, maxConnections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	close(s.stopping)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := web.Shutdown(ctx); err != nil {
		web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP checks and answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if !s.hosts[r.Host] {
		http.Error(w, "This server answers only at its own address.", http.StatusMisdirectedRequest)
		return
	}
	if err := s.origins.Check(r); err != nil {
		http.Error(w, "This request comes from another site.", http.StatusForbidden)
		return
	}
	handler, pattern := s.mux.Handler(r)
	if pattern == "" {
		handler.ServeHTTP(w, r) // 404, 405, or a redirect to the clean path
		return
	}
	if r.URL.Path != loginPath && !strings.HasPrefix(r.URL.Path, staticPath) && !s.signedIn(r) {
		s.refuse(w)
		return
	}
	s.Site.ServeHTTP(w, r)
}

// setHeaders sets the headers of every response.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// signedIn reports whether the request has the session cookie.
func (s *Server) signedIn(r *http.Request) bool {
	c, err := r.Cookie(s.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.session)) == 1
}

// signIn exchanges the token in the printed address for the cookie.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("token")
	s.mu.Lock()
	valid := s.login != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.login)) == 1
	if valid {
		s.login = ""
	}
	s.mu.Unlock()
	if !valid && !s.signedIn(r) { // the user may load the printed address again
		s.refuse(w)
		return
	}
	if valid {
		http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) refuse(w http.ResponseWriter) {
	if err := s.render(w, Page{Status: http.StatusUnauthorized, Title: "Sign in"}, "refused.html", nil); err != nil {
		s.internalError(w, err)
	}
}
