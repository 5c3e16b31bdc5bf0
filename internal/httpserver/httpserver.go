// Package httpserver serves MCP clients, the hooks of other machines, and browsers over
// HTTP.
//
// A request passes these checks in order, and the first that fails answers it:
//
//	404  the path is not exactly one of the server's
//	405  the method is not one of the path's
//	503  too many connections have requests
//	403  the Host or Origin header names another site
//	401  the token is missing, unknown, expired, or for another audience
//	403  the token's scopes do not permit the request
//	429  the client has too many requests or streams; 503 if all clients together have
//	408, 413  the body does not arrive in time, or is too large
//
// The health of the server is answered after the first two. A browser has its token in a
// cookie, which a form sets.
//
// Requests of clients that are not known (yet) have slots of their own, limited by address:
// they cannot occupy those of clients with a token. A body must arrive at a minimum rate.
//
// The server keeps no state of clients between requests, so that any of several replicas
// can answer. Its memory is bounded by the limits on connections, requests and bodies.
package httpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
	"github.com/docsearch/docsearch/internal/httpserver/connlimit"
	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/web"
)

// Paths of the server, besides those of package remote.
const (
	Endpoint     = "/mcp" // for MCP clients
	healthPath   = "/healthz"
	readyPath    = "/readyz"
	metricsPath  = "/metrics"
	metadataPath = "/.well-known/oauth-protected-resource"
)

// ShutdownTime limits how long calls may continue after shutdown begins.
const ShutdownTime = 30 * time.Second

const (
	// maxConnections limits concurrent connections, maxRequests the requests of known
	// clients that are handled at once, and maxAnonymous those of other clients.
	maxConnections = 1024
	maxRequests    = 256
	maxAnonymous   = 64
	// maxBody is the maximum size of a body in bytes, maxLogin that of the form with a
	// token, and maxHeader that of the headers.
	maxBody   = 1 << 20
	maxLogin  = 32 << 10
	maxHeader = 32 << 10
	// bodyTime limits the time to receive a body. After bodyGrace, it must have arrived at
	// minBodyRate bytes per second. A client must read its response within responseTime.
	bodyTime     = 10 * time.Second
	bodyGrace    = time.Second
	minBodyRate  = 16 << 10
	responseTime = 30 * time.Second
)

// ErrNeedsToken is wrapped by Listen's error for an address that other machines can
// reach, if there is no token.
var ErrNeedsToken = errors.New("a token is required: other machines can reach this address, unlike 127.0.0.1")

// Options configure a Server.
type Options struct {
	MCP     *mcpserver.Server
	Catalog *mcpserver.Catalog // with Readable entries
	Site    *web.Site          // of the same catalog, for browsers; nil: none
	Log     *slog.Logger       // nil: no log
	Audit   *AuditLog          // nil: no audit log
	Version string             // of docsearch, for clients with a token

	Token  string            // a token with all scopes; empty: none
	Tokens *accesstoken.File // nil: none
	Issuer *Issuer           // of JSON Web Tokens; nil: none
	Rate   float64           // requests per second and token; 0: DefaultRate

	PublicURL         string // URL of the server for clients, without a path; empty: only its addresses
	CertFile, KeyFile string // for TLS; empty: no TLS
	// Drain is the time between failing /readyz and refusing connections when the server
	// stops.
	Drain time.Duration
}

// DefaultRate is the default number of requests per second and token.
const DefaultRate = 100

// A Server is an HTTP server.
type Server struct {
	Options
	web                               *http.Server
	shutdown                          func(context.Context) error
	public                            *url.URL // nil: none
	mcp                               http.Handler
	routes                            map[string]route
	cert                              *certificate // nil: no TLS
	clients                           clientLimits
	requests                          chan struct{} // of size maxRequests
	anonymous                         chan struct{} // of size maxAnonymous
	bodyTime, bodyGrace, responseTime time.Duration
	stopping                          atomic.Bool
	metrics                           metrics
}

// New returns a server.
func New(opt Options) (*Server, error) {
	s := &Server{Options: opt, bodyTime: bodyTime, bodyGrace: bodyGrace, responseTime: responseTime,
		requests: make(chan struct{}, maxRequests), anonymous: make(chan struct{}, maxAnonymous)}
	s.Rate = cmp.Or(opt.Rate, DefaultRate)
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if opt.PublicURL != "" {
		u, err := url.Parse(opt.PublicURL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" && u.Path != "/" ||
			u.RawQuery != "" {
			return nil, fmt.Errorf("invalid public URL %q: want a scheme and a host, such as https://docs.example.com",
				opt.PublicURL)
		}
		u.Path = ""
		s.public = u
	}
	if opt.Issuer != nil && s.public == nil {
		return nil, errors.New("an issuer needs the public URL of the server, which clients request a token for")
	}
	if opt.Issuer != nil && opt.Issuer.audience == "" {
		opt.Issuer.audience = s.public.String() + Endpoint
	}
	if opt.CertFile != "" {
		s.cert = &certificate{certFile: opt.CertFile, keyFile: opt.KeyFile, log: s.Log}
		if _, err := s.cert.get(nil); err != nil {
			return nil, err
		}
	}
	s.web = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 64},
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		Handler:           s,
	}
	s.mcp, s.shutdown = opt.MCP.HTTP(s.web)
	s.routes = s.routeTable()
	return s, nil
}

// Listen listens on addr, HOST:PORT. Unless the server requires a token, only loopback
// addresses are allowed.
func (s *Server) Listen(ctx context.Context, addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("invalid address %q: want HOST:PORT, such as 127.0.0.1:7373", addr)
	}
	protected, err := s.protected(ctx)
	if err != nil {
		return nil, err
	}
	if !protected && !loopback.IsHost(addr) {
		return nil, fmt.Errorf("cannot listen on %q: %w", addr, ErrNeedsToken)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// Scheme returns the scheme of the server's URLs.
func (s *Server) Scheme() string {
	if s.cert != nil {
		return "https"
	}
	return "http"
}

// Serve serves clients on l until ctx is done, and closes l. It then finishes the calls in
// flight.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	l = connlimit.Listen(l, s.web, maxConnections)
	ended := make(chan error, 1)
	go func() {
		if s.cert == nil {
			ended <- s.web.Serve(l)
			return
		}
		s.web.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.cert.get}
		ended <- s.web.ServeTLS(l, "", "")
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true) // the load balancer sees it in /readyz
	select {
	case err := <-ended:
		return err
	case <-time.After(s.Drain):
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ShutdownTime)
	defer cancel()
	if err := s.shutdown(ctx); err != nil {
		s.web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Reload reads the certificate again and reopens the audit log. Tokens and databases are
// read again without it.
func (s *Server) Reload() error {
	var err error
	if s.cert != nil {
		err = s.cert.reload()
	}
	if s.Audit != nil {
		err = errors.Join(err, s.Audit.Reopen())
	}
	return err
}

// A route is a path of the server.
type route struct {
	methods []string
	scope   string // required; empty: none
	health  bool   // is answered whatever the load; needs neither a token nor a Host
	open    bool   // needs neither a token nor a Host
	page    bool   // for browsers: the token may be in a cookie
	login   bool   // accepts a token for the cookie, and needs none
	handle  func(http.ResponseWriter, *http.Request)
}

func (s *Server) routeTable() map[string]route {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	table := map[string]route{
		Endpoint: {methods: []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodHead},
			scope: accesstoken.ScopeRead, handle: s.serveMCP},
		healthPath: {methods: get, health: true,
			handle: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }},
		readyPath:            {methods: get, health: true, handle: s.ready},
		metricsPath:          {methods: get, scope: accesstoken.ScopeMetrics, handle: s.writeMetrics},
		remote.DatabasesPath: {methods: get, scope: accesstoken.ScopeRead, handle: s.listDatabases},
		remote.AnswerPath:    {methods: post, scope: accesstoken.ScopeRead, handle: s.answer},
		remote.SearchPath:    {methods: post, scope: accesstoken.ScopeRead, handle: s.search},
		remote.ReadPath:      {methods: post, scope: accesstoken.ScopeRead, handle: s.read},
	}
	if s.Site != nil {
		for _, path := range s.Site.StaticFiles() {
			table[path] = route{methods: get, open: true, handle: s.Site.ServeHTTP}
		}
		for _, path := range web.Paths {
			table[path] = route{methods: get, scope: accesstoken.ScopeRead, page: true, handle: s.Site.ServeHTTP}
		}
		table[loginPath] = route{methods: post, page: true, login: true, handle: s.logIn}
	}
	if s.Issuer != nil {
		metadata := route{methods: get, open: true, handle: s.writeResourceMetadata}
		table[metadataPath], table[metadataPath+Endpoint] = metadata, metadata
	}
	return table
}

// ready reports whether the server accepts work.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.stopping.Load() {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// serveMCP handles a message of an MCP client. An initialize request gets a session ID
// because some clients require one. The server accepts any ID and stores nothing under it,
// so an ID cannot be stolen, and clients continue after a restart or on another replica.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && methodOf(r) == mcpserver.Initialize {
		w.Header().Set(mcpserver.SessionHeader, rand.Text())
	}
	s.mcp.ServeHTTP(w, r)
}
