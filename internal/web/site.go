package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Paths are the pages of a Site, without its static files.
var Paths = []string{"/", "/search", "/read", "/browse", "/names"}

// maxWork limits the searches and documents that are prepared at once, and so the memory
// for them.
const maxWork = 16

// Options configure a Site.
type Options struct {
	Catalog *mcpserver.Catalog
	// Why explains what the hook would do with a web search; nil: the page does not say.
	Why func(ctx context.Context, query string) (*Verdict, error)
	// Aside returns what the home shows besides the databases; nil: nothing.
	Aside func(ctx context.Context) (template.HTML, error)
	Log   *slog.Logger // nil: no log
}

// A Site is the pages without any check of requests. A server that checks them in its own
// way serves a Site; Server serves it to the user of this machine.
type Site struct {
	Options
	base      string // precedes the paths of the server; empty: none
	templates *template.Template
	static    map[string]staticFile
	mux       *http.ServeMux
	sections  []Section
	work      chan struct{}   // of size maxWork
	recent    *recentSearches // nil: the site has several users
}

// NewSite returns a site with the pages of this package.
func NewSite(opt Options) (*Site, error) { return newSite(opt, "") }

func newSite(opt Options, base string) (*Site, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Site{Options: opt, base: base, mux: http.NewServeMux(), work: make(chan struct{}, maxWork)}
	var err error
	if s.templates, err = parseTemplates(base); err != nil {
		return nil, err
	}
	if s.static, err = loadStatic(); err != nil {
		return nil, err
	}
	s.HandleFunc("GET "+staticPath, s.serveStatic)
	s.AddSection("/", "Search")
	s.handle("GET /{$}", s.searchPage)
	s.handle("GET /search", s.searchResults)
	s.handle("GET /read", s.readPage)
	s.handle("GET /browse", s.browsePage)
	s.handle("GET /names", s.namesPage)
	s.HandleFunc("GET /", s.NotFound)
	return s, nil
}

// ServeHTTP answers a request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.mux.ServeHTTP(w, r)
}

// StaticFiles lists the paths of the files that need no session.
func (s *Site) StaticFiles() []string { return slices.Sorted(maps.Keys(s.static)) }

// AskForToken answers with a form for a token, which it posts to a path.
func (s *Site) AskForToken(w http.ResponseWriter, path string, wrong bool) {
	setHeaders(w.Header())
	if err := s.render(w, Page{Status: http.StatusUnauthorized, Title: "Sign in"}, "token.html", tokenView{path, wrong}); err != nil {
		s.internalError(w, err)
	}
}

// A tokenView is the data of the form for a token.
type tokenView struct {
	Path  string
	Wrong bool
}

// begin waits until the request may use memory. The caller must call end.
func (s *Site) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.work <- struct{}{}:
		return func() { <-s.work }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A Section is an entry of the navigation.
type Section struct{ Path, Title string }

// AddSection adds an entry to the navigation. It must not be called after Serve.
func (s *Site) AddSection(path, title string) {
	s.sections = append(s.sections, Section{path, title})
}

// HandleFunc adds a page, for requests that have passed all checks. It must not be called
// after Serve.
func (s *Site) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	s.mux.HandleFunc(pattern, handle)
}

// handle is HandleFunc for a function whose error becomes an error page. An httpError
// decides the status.
func (s *Site) handle(pattern string, handle func(http.ResponseWriter, *http.Request) error) {
	s.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// A Page is a page without the layout of the site.
type Page struct {
	Status  int // of the response; 0: 200
	Title   string
	Section string // path of its Section
	Body    template.HTML
}

// A view is the data of the layout.
type view struct {
	Page
	Base     string
	Sections []Section
}

// Render writes a page.
func (s *Site) Render(w http.ResponseWriter, p Page) {
	v := view{Page: p}
	if p.Status != http.StatusUnauthorized { // else the client may not learn the base
		v.Base, v.Sections = s.base, s.sections
	}
	b, err := s.part("layout.html", v)
	if err != nil {
		s.internalError(w, err)
		return
	}
	write(w, cmp.Or(p.Status, http.StatusOK), b)
}

// render writes a page with the named template as its body.
func (s *Site) render(w http.ResponseWriter, p Page, name string, data any) error {
	var err error
	if p.Body, err = s.part(name, data); err == nil {
		s.Render(w, p)
	}
	return err
}

// part returns the HTML of the named template.
func (s *Site) part(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := s.templates.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err
}

func write(w http.ResponseWriter, status int, html template.HTML) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, string(html)) // a client that is gone needs no response
}

// Base precedes the paths of the server in links.
func (s *Site) Base() string { return s.base }

// Redirect sends the browser to another page, with GET.
func (s *Site) Redirect(w http.ResponseWriter, r *http.Request, path string) {
	http.Redirect(w, r, s.base+path, http.StatusSeeOther)
}

// NotFound answers a request for an unknown address, with the search.
func (s *Site) NotFound(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	s.Fail(w, r, Page{Status: http.StatusNotFound}, errors.New("there is no page at this address"))
}

// An httpError is an error with the status of its response.
type httpError struct {
	status int
	error
}

func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	if e, ok := errors.AsType[httpError](err); ok {
		status = e.status
	}
	s.Fail(w, r, Page{Status: status}, err)
}

// Fail shows an error to the user, in the page's section and with its status.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, p Page, err error) {
	if r.Context().Err() != nil {
		return // the browser has closed the connection
	}
	p.Title = "Error"
	if p.Status == http.StatusNotFound {
		p.Title = "Not found"
	}
	message := safetext.Line(err.Error())
	first, size := utf8.DecodeRuneInString(message)
	v := errorView{p.Title, string(unicode.ToUpper(first)) + message[size:], p.Section, r.URL.Query().Get("q")}
	if err := s.render(w, p, "error.html", v); err != nil {
		s.internalError(w, err)
	}
}

// An errorView is the data of the page of an error.
type errorView struct{ Title, Message, Back, Query string }

func (s *Site) internalError(w http.ResponseWriter, err error) {
	s.Log.Error("cannot render the page", "error", err)
	http.Error(w, "Internal error: cannot render this page.", http.StatusInternalServerError)
}
