// Package web serves the web page of docsearch: search and read the documentation as the
// agent does, see what the hook did, and manage databases.
//
// A server is for the user of this machine. It listens on a loopback address, and
// everybody who can reach that address may be another user or a page in the user's
// browser. So a request passes these checks in order, and the first that fails answers it:
//
//	503  too many connections have requests
//	421  the Host header is not an address of this server (DNS rebinding)
//	403  a request that changes something comes from another origin
//	401  the path does not begin with the secret base, except for files of the program
//	401  the session cookie is missing or wrong
//	404  the path is not one of the server's
//
// LoginURL contains the base and a token, which the server exchanges once for the cookie. A
// browser sends a cookie to all ports of a host, and so to servers of other users. So the
// cookie is limited to paths below the base, which no page tells to another server. It is
// HttpOnly and SameSite=Strict, too. If the token comes twice, somebody has read it: nobody
// has a session then.
//
// The arguments of a browser are visible to other users. So it opens the file of
// WriteRedirect, which only this user can read.
//
// The content security policy permits no inline scripts and styles, and nothing from other
// hosts.
//
// Each page is a file of its own with a handler and a template of the same name. Other
// packages add pages with HandleFunc, AddSection and Render. Without script,
// pages are plain forms and links.
package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/httpserver/connlimit"
	"github.com/docsearch/docsearch/internal/loopback"
)

const (
	loginPath  = "/login"
	staticPath = "/static/"
	// cookieName is the name of the session cookie. Cookies do not distinguish ports, so
	// New adds the port.
	cookieName = "docsearch"

	maxConnections = 256
	// writeTimeout limits a response.
	writeTimeout = 2 * time.Minute
	maxHeader    = 32 << 10
	maxForm      = 64 << 10 // bytes of a request's body
	shutdownTime = 2 * time.Second
)

// A Server serves the page to one user.
type Server struct {
	*Site
	// Stolen is called if the token of LoginURL comes a second time, after all sessions have
	// ended. It must be set before Serve; nil: not reported.
	Stolen func()

	hosts     map[string]bool // allowed Host headers
	cookie    string          // name
	session   string          // value of the cookie
	login     string          // token that signIn accepts
	origins   *http.CrossOriginProtection
	stolen    chan struct{} // closed when the token comes a second time
	listening net.Listener

	mu       sync.Mutex
	used     bool   // the token has come
	redirect string // file of WriteRedirect; empty: none
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
	site, err := newSite(opt, "/"+rand.Text())
	if err != nil {
		return nil, err
	}
	site.recent = &recentSearches{}
	s := &Server{Site: site, listening: l, cookie: cookieName + port, session: rand.Text(), login: rand.Text(),
		hosts:   map[string]bool{net.JoinHostPort(host, port): true, "localhost:" + port: true},
		origins: http.NewCrossOriginProtection(), stolen: make(chan struct{})}
	s.HandleFunc("GET "+loginPath, s.signIn)
	return s, nil
}

// URL returns the address of the pages, which do not end with a slash.
func (s *Server) URL() string { return "http://" + s.listening.Addr().String() + s.base }

// LoginURL returns the address to open in a browser. It works once.
func (s *Server) LoginURL() string { return s.URL() + loginPath + "?token=" + s.login }

// WriteRedirect writes a page that leads to LoginURL into a new file, which only this user
// can read, and returns its path. The server removes it when the token comes, or when the
// server stops.
func (s *Server) WriteRedirect() (string, error) {
	f, err := os.CreateTemp("", "docsearch-web-*.html") // with mode 0600
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.redirect = f.Name()
	s.mu.Unlock()
	_, err = io.WriteString(f, leadTo(s.LoginURL()))
	return f.Name(), errors.Join(err, f.Close())
}

// removeRedirect removes the file of WriteRedirect.
func (s *Server) removeRedirect() {
	s.mu.Lock()
	path := s.redirect
	s.redirect = ""
	s.mu.Unlock()
	if path == "" {
		return
	}
	if err := os.Remove(path); err != nil {
		s.Log.Warn("cannot remove the page that opens the browser", "error", err)
	}
}

// leadTo returns a page that leads to an address, without script.
func leadTo(address string) string {
	return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=` + address + `">
<link rel="icon" href="data:,">
<title>docsearch</title>
<p><a href="` + address + `">Open docsearch</a></p>
</html>
`
}

// Serve serves requests until ctx is done, and closes the listener.
func (s *Server) Serve(ctx context.Context) error {
	defer s.removeRedirect()
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: writeTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(connlimit.Listen(s.listening, web, maxConnections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
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
	end, free := connlimit.Begin(r.Context())
	defer end()
	if !free {
		http.Error(w, "Too many requests.", http.StatusServiceUnavailable)
		return
	}
	if !s.hosts[r.Host] {
		http.Error(w, "This server answers only at its own address.", http.StatusMisdirectedRequest)
		return
	}
	if err := s.origins.Check(r); err != nil {
		http.Error(w, "This request comes from another site.", http.StatusForbidden)
		return
	}
	if strings.HasPrefix(r.URL.Path, staticPath) { // for the page that refuses
		s.Site.ServeHTTP(w, r)
		return
	}
	below, ok := s.belowBase(r)
	if !ok {
		s.refuse(w)
		return
	}
	handler, pattern := s.mux.Handler(below)
	if pattern == "" {
		handler.ServeHTTP(w, below) // 405, or a redirect to the clean path
		return
	}
	if below.URL.Path != loginPath && !s.signedIn(r) {
		s.refuse(w)
		return
	}
	s.Site.ServeHTTP(w, below)
}

// belowBase returns the request with its path below the base. It returns false if the path
// does not begin with the base.
func (s *Server) belowBase(r *http.Request) (*http.Request, bool) {
	n := len(s.base)
	path := r.URL.Path
	if len(path) <= n || path[n] != '/' || subtle.ConstantTimeCompare([]byte(path[:n]), []byte(s.base)) != 1 {
		return nil, false
	}
	below := r.Clone(r.Context())
	below.URL = &url.URL{Path: path[n:], RawPath: strings.TrimPrefix(r.URL.RawPath, s.base), RawQuery: r.URL.RawQuery}
	return below, true
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

// signedIn reports whether the request has the session cookie. Servers on other ports can
// set further cookies of that name.
func (s *Server) signedIn(r *http.Request) bool {
	select {
	case <-s.stolen:
		return false
	default:
	}
	return slices.ContainsFunc(r.CookiesNamed(s.cookie), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.session)) == 1
	})
}

// signIn exchanges the token in the printed address for the cookie. The response leads to
// the pages instead of redirecting there: after a redirect from the file of WriteRedirect,
// the browser would not send the cookie, as it came from another site.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	valid := subtle.ConstantTimeCompare([]byte(r.FormValue("token")), []byte(s.login)) == 1
	if !valid || r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" { // a look ahead is no use
		s.refuse(w)
		return
	}
	signedIn := s.signedIn(r) // the user may load the printed address again
	s.mu.Lock()
	first := !s.used
	s.used = true
	s.mu.Unlock()
	if !first && !signedIn {
		s.revoke()
		s.refuse(w)
		return
	}
	if first {
		s.removeRedirect()
		http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.session, Path: s.base + "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
	}
	write(w, http.StatusOK, template.HTML(leadTo(s.base+"/")))
}

// revoke ends all sessions, for good, and reports that.
func (s *Server) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stolen:
		return
	default:
	}
	close(s.stolen)
	if s.Stolen != nil {
		go s.Stolen() // it may write slowly
	}
}

func (s *Server) refuse(w http.ResponseWriter) {
	if err := s.render(w, Page{Status: http.StatusUnauthorized, Title: "Sign in"}, "refused.html", nil); err != nil {
		s.internalError(w, err)
	}
}
