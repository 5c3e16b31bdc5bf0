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
// LoginURL contains a token, which the server exchanges once for the cookie. The cookie is HttpOnly and SameSite=Strict. The content security policy
// permits no inline scripts and styles, and nothing from other hosts.
//
// Each page is a file of its own with a handler and a template of the same name. Other
// packages add pages with HandleFunc, AddSection, Render and OpenStream. Without script,
// pages are plain forms and links.
package web

import (
	"cmp"
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
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/docsearch/docsearch/internal/safetext"
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

// Options configure a Server.
type Options struct {
	Log *slog.Logger // nil: no log
}

// A Server serves the page to one user.
type Server struct {
	Options
	hosts     map[string]bool // allowed Host headers
	cookie    string          // name
	session   string          // value of the cookie
	origins   *http.CrossOriginProtection
	templates *template.Template
	static    map[string]staticFile
	mux       *http.ServeMux
	sections  []Section
	streams   chan struct{} // of size maxStreams
	stopping  chan struct{} // closed when the server stops
	mu        sync.Mutex    // protects login
	login     string        // token that Login accepts; empty: used
	listening net.Listener
}

// New returns a server that serves on l, which must listen on a loopback address.
func New(l net.Listener, opt Options) (*Server, error) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("cannot serve the page on %s: other machines can reach this address", l.Addr())
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: opt, listening: l, cookie: cookieName + port, session: rand.Text(), login: rand.Text(),
		hosts: map[string]bool{net.JoinHostPort(host, port): true, "localhost:" + port: true},
		mux:   http.NewServeMux(), origins: http.NewCrossOriginProtection(), streams: make(chan struct{}, maxStreams), stopping: make(chan struct{})}
	if s.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	if s.static, err = loadStatic(); err != nil {
		return nil, err
	}
	s.addPages()
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
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.mux.ServeHTTP(w, r)
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

// A Section is an entry of the navigation.
type Section struct{ Path, Title string }

// AddSection adds an entry to the navigation. It must not be called after Serve.
func (s *Server) AddSection(path, title string) {
	s.sections = append(s.sections, Section{path, title})
}

// HandleFunc adds a page, for requests that have passed all checks. It must not be called
// after Serve.
func (s *Server) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	s.mux.HandleFunc(pattern, handle)
}

// handle is HandleFunc for a function whose error becomes an error page. An httpError
// decides the status.
func (s *Server) handle(pattern string, handle func(http.ResponseWriter, *http.Request) error) {
	s.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// addPages adds the pages of this package.
func (s *Server) addPages() {
	s.HandleFunc("GET "+loginPath, s.signIn)
	s.HandleFunc("GET "+staticPath, s.serveStatic)
	s.AddSection("/", "Search")
	s.handle("GET /{$}", s.searchPage)
}

// A Page is a page without the layout of the site.
type Page struct {
	Status  int // of the response; 0: 200
	Title   string
	Section string // path of its Section
	Stream  string // path of the page's event stream; empty: none
	Body    template.HTML
}

// A view is the data of the layout.
type view struct {
	Page
	Sections []Section
}

// Render writes a page.
func (s *Server) Render(w http.ResponseWriter, p Page) {
	var sections []Section
	if p.Status != http.StatusUnauthorized {
		sections = s.sections
	}
	b, err := s.part("layout.html", view{p, sections})
	if err != nil {
		s.internalError(w, err)
		return
	}
	write(w, cmp.Or(p.Status, http.StatusOK), b)
}

// render writes a page with the named template as its body.
func (s *Server) render(w http.ResponseWriter, p Page, name string, data any) error {
	var err error
	if p.Body, err = s.part(name, data); err == nil {
		s.Render(w, p)
	}
	return err
}

// part returns the HTML of the named template.
func (s *Server) part(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := s.templates.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err
}

func write(w http.ResponseWriter, status int, html template.HTML) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, string(html)) // a client that is gone needs no response
}

// An httpError is an error with the status of its response.
type httpError struct {
	status int
	error
}

// fail shows an error to the user.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the browser has closed the connection
	}
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[httpError](err); ok {
		status = e.status
	}
	if err := s.render(w, Page{Status: status, Title: "Error"}, "error.html", safetext.Line(err.Error())); err != nil {
		s.internalError(w, err)
	}
}

func (s *Server) internalError(w http.ResponseWriter, err error) {
	s.Log.Error("cannot render the page", "error", err)
	http.Error(w, "Internal error: cannot render this page.", http.StatusInternalServerError)
}
