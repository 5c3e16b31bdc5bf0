package httpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/httpserver/connlimit"
	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/mcpserver"
)

// A refusal is the response to a request that fails a check.
type refusal struct {
	status int
	reason string // for the audit log and the metrics
	text   string // for the client
}

func (r *refusal) Error() string { return r.text }

// A request is the record of a request, for the audit log and the metrics.
type request struct {
	start   time.Time
	client  client
	path    string // a known path, else ""
	reason  string // of a refusal
	call    mcpserver.Call
	streams bool // waits for notifications
	page    bool // the client is a browser
}

type requestKey struct{}

// requestOf returns the record of the request that ctx belongs to, or nil.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// Called records the call of a tool. It is the mcpserver.Options.Called of a server.
func Called(ctx context.Context, c mcpserver.Call) {
	if r := requestOf(ctx); r != nil {
		r.call = c
	}
}

// Readable returns the entries of a catalog for the client of a request: those that its
// token may read.
func Readable(entries func() []mcpserver.Entry) func(context.Context) []mcpserver.Entry {
	return func(ctx context.Context) []mcpserver.Entry {
		all := entries()
		r := requestOf(ctx)
		if r == nil {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(all),
			func(e mcpserver.Entry) bool { return !r.client.scopes.Reads(e.Name) })
	}
}

// ServeHTTP checks and handles a request, and records its outcome.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := &request{start: time.Now()}
	out := &response{ResponseWriter: w, status: http.StatusOK}
	s.metrics.inFlight.Add(1)
	defer func() {
		s.metrics.inFlight.Add(-1)
		if v := recover(); v != nil {
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			s.Log.Error("internal error", "path", record.path, "error", v)
			record.reason = "internal"
			if !out.wrote {
				http.Error(out, "internal error", http.StatusInternalServerError)
			}
		}
		s.finish(r, record, out)
	}()
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, record))
	// The deadline is that of the connection, so that of the last request must not remain.
	s.limitResponse(w, s.bodyTime+queueTime+s.responseTime)
	if err := s.handle(out, r, record); err != nil {
		record.reason = err.reason
		s.dropBody(out, r)
		if err.status == http.StatusTooManyRequests || err.status == http.StatusServiceUnavailable {
			out.Header().Set("Retry-After", "1")
		}
		if record.page && err.status == http.StatusUnauthorized {
			s.Site.AskForToken(out, loginPath, err.reason != "no token")
			return
		}
		if err == errPath && s.Site != nil && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
			s.Site.NotFound(out, r) // the client is a browser
			return
		}
		http.Error(out, err.text, err.status)
	}
}

// errPath is the refusal of an unknown path.
var errPath = &refusal{http.StatusNotFound, "path", "not found"}

// handle checks a request and handles it.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, record *request) *refusal {
	path := r.URL.EscapedPath()
	route, known := s.routes[path]
	if !known {
		return errPath
	}
	record.path, record.page = path, route.page
	if !slices.Contains(route.methods, r.Method) {
		w.Header().Set("Allow", strings.Join(route.methods, ", "))
		return &refusal{http.StatusMethodNotAllowed, "method", "method not allowed"}
	}

	end, free := connlimit.Begin(r.Context())
	defer end()
	if route.health {
		route.handle(w, r)
		return nil
	}
	if !free {
		return errBusy
	}
	if route.open || route.login {
		release, refused := s.admitAnonymous(r)
		if refused != nil {
			return refused
		}
		defer release()
	}
	if route.open {
		route.handle(w, r)
		return nil
	}

	if !s.hostAllowed(r) {
		return &refusal{http.StatusForbidden, "host", "host not allowed"}
	}
	if !s.originAllowed(r) {
		return &refusal{http.StatusForbidden, "origin", "origin not allowed"}
	}

	bodySize := int64(maxBody)
	if route.login {
		bodySize = maxLogin
	} else {
		if refused := s.identify(w, r, &route, record); refused != nil {
			return refused
		}
		record.streams = r.Method == http.MethodGet && path == Endpoint
		release, refused := s.admit(r.Context(), record)
		if refused != nil {
			return refused
		}
		defer release()
	}

	if r.Method == http.MethodPost {
		if refused := s.receive(w, r, bodySize); refused != nil {
			return refused
		}
	}
	if record.streams {
		s.limitResponse(w, 0)
	} else {
		s.limitResponse(w, s.responseTime)
	}
	route.handle(w, r)
	return nil
}

// identify finds the client of a request, and checks that it may send the request.
func (s *Server) identify(w http.ResponseWriter, r *http.Request, route *route, record *request) *refusal {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		token = ""
	}
	if token == "" && route.page {
		token = tokenInCookie(r)
	}
	var refused *refusal
	if record.client, refused = s.authenticate(r, token); refused == nil && !record.client.permits(route.scope) {
		refused = &refusal{http.StatusForbidden, "scope", "the token does not permit this"}
	}
	if refused != nil {
		w.Header().Set("WWW-Authenticate", s.challenge(refused))
	}
	return refused
}

// limitResponse closes the connection unless the response is sent within the time, so that
// a client that does not read occupies it no longer. 0 means no limit.
func (s *Server) limitResponse(w http.ResponseWriter, limit time.Duration) {
	var deadline time.Time
	if limit > 0 {
		deadline = time.Now().Add(limit)
	}
	if err := http.NewResponseController(w).SetWriteDeadline(deadline); err != nil {
		s.Log.Debug("cannot set the write deadline", "error", err)
	}
}

// receive reads the body completely, within its limits of size, time and rate, so that a
// slow client occupies its own slots only.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, size int64) *refusal {
	in := &pacedBody{body: http.MaxBytesReader(w, r.Body, size), control: http.NewResponseController(w), s: s,
		start: time.Now()}
	body, err := io.ReadAll(in)
	if err = errors.Join(err, in.control.SetReadDeadline(time.Time{})); err != nil {
		return &refusal{statusOf(err), "body", "cannot read the message: " + err.Error()}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// A pacedBody is a body that must arrive at a minimum rate.
type pacedBody struct {
	body    io.Reader
	control *http.ResponseController
	s       *Server
	start   time.Time
	bytes   time.Duration // received
}

func (b *pacedBody) Read(p []byte) (int, error) {
	limit := min(b.s.bodyTime, b.s.bodyGrace+b.bytes*time.Second/minBodyRate)
	if err := b.control.SetReadDeadline(b.start.Add(limit)); err != nil {
		return 0, err
	}
	n, err := b.body.Read(p)
	b.bytes += time.Duration(n)
	return n, err
}

// dropBody closes the connection after the response if the rest of the body is still to
// come: the server would wait for it before it answers.
func (s *Server) dropBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	if r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyGrace)); err != nil {
		s.Log.Debug("cannot set the read deadline", "error", err)
	}
}

// statusOf returns the HTTP status for a body that could not be read.
func statusOf(err error) int {
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// methodOf returns the method of an MCP message, whose body has been received.
func methodOf(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var message struct {
		Method string `json:"method"`
	}
	if err != nil || json.Unmarshal(body, &message) != nil {
		return ""
	}
	return message.Method
}

// hostAllowed checks the Host header, which keeps web pages away that resolve their own
// name to this server (DNS rebinding). A server on a loopback address, or with a public
// URL, has known names. Any other server requires a token, which such pages do not have.
func (s *Server) hostAllowed(r *http.Request) bool {
	if s.public != nil && strings.EqualFold(r.Host, s.public.Host) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	onLoopback := ok && loopback.IsHost(local.String())
	if onLoopback {
		return loopback.IsHost(r.Host)
	}
	return s.public == nil
}

// originAllowed reports whether the request has no web origin, or one on this machine or
// on the server's own host.
func (s *Server) originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (loopback.IsHost(u.Host) || u.Host == r.Host && u.Host != "")
}

// A response counts the bytes of a response and keeps its status.
type response struct {
	http.ResponseWriter
	status int
	bytes  int64
	wrote  bool
}

func (w *response) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(data []byte) (int, error) {
	w.wrote = true
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Flush sends the response so far, for streams.
func (w *response) Flush() {
	w.wrote = true
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
