package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// Endpoint is the path that the server answers on over HTTP.
const Endpoint = "/mcp"

// shutdownTime is how long answers may take after the server was told to stop.
const shutdownTime = 5 * time.Second

// sessionTime is after how long without a request the little that mcp-go
// keeps of a session is dropped.
const sessionTime = time.Hour

// ErrNeedsToken is wrapped by Listen's error for an address that other
// machines reach, where there is no token.
var ErrNeedsToken = errors.New("it can be reached from other machines and needs a token; 127.0.0.1 needs none")

// Listen listens on addr, HOST:PORT, for ServeHTTP. Without a token, only the
// addresses that no other machine reaches are allowed.
func Listen(ctx context.Context, addr, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w: HOST:PORT is expected, such as 127.0.0.1:7373", addr, err)
	}
	if token == "" && !isLoopback(host) {
		return nil, fmt.Errorf("address %q: %w", addr, ErrNeedsToken)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// ServeHTTP answers MCP clients over streamable HTTP on l until ctx is done.
// With a token, every request must bear it. It closes l.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	web := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	transport := server.NewStreamableHTTPServer(s.mcp, server.WithStreamableHTTPServer(web),
		server.WithSessionIdManager(sessions{}), server.WithSessionIdleTTL(sessionTime), server.WithStreamableHTTPLogger(s.log))
	mux := http.NewServeMux()
	mux.Handle(Endpoint, transport)
	web.Handler = guard(mux, token)
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Calls in flight are answered; the streams that clients hold open for
	// what the server may have to say are ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := transport.Shutdown(ctx); err != nil {
		web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// sessions gives out session ids, because some clients insist on one, and
// takes any: nothing hangs on them, so none can be stolen, and a client goes
// on after the server was started again.
type sessions struct{}

func (sessions) Generate() string                           { return rand.Text() }
func (sessions) Validate(string) (ended bool, err error)    { return false, nil }
func (sessions) Terminate(string) (refused bool, err error) { return false, nil }

// guard refuses requests without the token, from web pages of other sites,
// and with bodies that are longer than any message should be.
func guard(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sameSite(r) {
			http.Error(w, "this origin is not allowed", http.StatusForbidden)
			return
		}
		if token != "" {
			given, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			got := sha256.Sum256([]byte(given))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !bears {
				w.Header().Set("WWW-Authenticate", `Bearer realm="docsearch"`)
				http.Error(w, "a valid bearer token is required", http.StatusUnauthorized)
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxMessage)
		next.ServeHTTP(w, r)
	})
}

// sameSite reports whether the request does not come from a web page, or from
// one of this machine or of the server's own name. With mcp-go's check of the
// Host header this keeps the pages that a user visits away from the server.
func sameSite(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (isLoopback(u.Hostname()) || u.Host == r.Host && u.Host != "")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
