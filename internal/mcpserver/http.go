package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/net/netutil"
)

// Endpoint is the URL path of the HTTP server.
const Endpoint = "/mcp"

// shutdownTime limits how long calls may continue after shutdown begins.
const shutdownTime = 5 * time.Second

const (
	// maxConnections limits concurrent connections, and maxBodies limits how many
	// of them may be sending a message.
	maxConnections = 512
	maxBodies      = 32
	// maxBody is the maximum message size over HTTP in bytes, and bodyTime limits
	// the time to receive one.
	maxBody  = 1 << 20
	bodyTime = 10 * time.Second
)

// ErrNeedsToken is wrapped by Listen's error for an address that other machines
// can reach, if there is no token.
var ErrNeedsToken = errors.New("a token is required: other machines can reach this address, unlike 127.0.0.1")

// Listen listens on addr, HOST:PORT, for ServeHTTP. Without a token, only
// loopback addresses are allowed.
func Listen(ctx context.Context, addr, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("invalid address %q: want HOST:PORT, such as 127.0.0.1:7373", addr)
	}
	if token == "" && !isLoopback(host) {
		return nil, fmt.Errorf("cannot listen on %q: %w", addr, ErrNeedsToken)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// ServeHTTP serves MCP clients over streamable HTTP on l until ctx is done, and
// closes l. With a token, every request must carry it. The server keeps no
// state of clients between requests, so its memory does not grow with their
// number.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	web := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	transport := server.NewStreamableHTTPServer(s.mcp, server.WithStreamableHTTPServer(web),
		server.WithStateLess(true), server.WithStreamableHTTPLogger(s.log))
	mux := http.NewServeMux()
	mux.Handle(Endpoint, transport)
	web.Handler = authorize(readMessages(mux, bodyTime), token)
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(netutil.LimitListener(l, maxConnections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Finish calls in flight, but close the streams on which clients wait for
	// notifications.
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

// readMessages reads each message completely, within a time limit, before it is
// handled, so that a slow client occupies only a connection. An initialize
// request gets a session ID because some clients require one. The server
// accepts any ID: it stores nothing under it, so an ID cannot be stolen and
// clients continue after a server restart.
func readMessages(next http.Handler, limit time.Duration) http.Handler {
	sending := make(chan struct{}, maxBodies)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		select {
		case sending <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		body, err := readBody(w, r, limit)
		<-sending
		if err != nil {
			http.Error(w, "cannot read the message: "+err.Error(), statusOf(err))
			return
		}
		var message struct {
			Method mcp.MCPMethod `json:"method"`
		}
		if json.Unmarshal(body, &message) == nil && message.Method == mcp.MethodInitialize {
			w.Header().Set(server.HeaderKeySessionID, rand.Text())
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads a request body within its limits of size and time.
func readBody(w http.ResponseWriter, r *http.Request, limit time.Duration) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	return body, errors.Join(err, control.SetReadDeadline(time.Time{}))
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

// authorize rejects requests without the token and requests from web pages of
// other sites.
func authorize(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sameSite(r) {
			http.Error(w, "origin not allowed", http.StatusForbidden)
			return
		}
		if token != "" {
			given, hasToken := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			got := sha256.Sum256([]byte(given))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !hasToken {
				w.Header().Set("WWW-Authenticate", `Bearer realm="docsearch"`)
				http.Error(w, "a valid bearer token is required", http.StatusUnauthorized)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// sameSite reports whether the request has no web origin, or one on this
// machine or on the server's own host name. Together with mcp-go's check of the
// Host header, this keeps web pages in the user's browser away from the server.
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
