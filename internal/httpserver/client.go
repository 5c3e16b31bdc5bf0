package httpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/accesstoken"
)

// A client is the sender of a request, known by its token.
type client struct {
	name   string // of the token; "" for a server without tokens
	scopes accesstoken.Scopes
}

// allScopes are the scopes of the shared token, and of every client of a server without
// tokens.
var allScopes = accesstoken.Scopes{accesstoken.ScopeRead, accesstoken.ScopeMetrics}

// permits reports whether the client has a scope, "read" for any database.
func (c *client) permits(scope string) bool {
	if scope == accesstoken.ScopeRead {
		return c.scopes.CanRead()
	}
	return scope == "" || c.scopes.Has(scope)
}

// protected reports whether clients need a token.
func (s *Server) protected() (bool, error) {
	if s.Token != "" || s.Issuer != nil {
		return true, nil
	}
	if s.Tokens == nil {
		return false, nil
	}
	return s.Tokens.Exists()
}

// authenticate returns the client with a token.
func (s *Server) authenticate(ctx context.Context, text string) (client, *refusal) {
	protected, err := s.protected()
	if err != nil {
		s.Log.Error("cannot read the tokens", "error", err)
		return client{}, &refusal{http.StatusServiceUnavailable, "tokens", "cannot check the token"}
	}
	if !protected {
		return client{"", allScopes}, nil
	}
	if text == "" {
		return client{}, &refusal{http.StatusUnauthorized, "no token", "a bearer token is required"}
	}
	if s.Token != "" {
		want, got := sha256.Sum256([]byte(s.Token)), sha256.Sum256([]byte(text))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return client{"shared", allScopes}, nil
		}
	}
	if s.Tokens != nil {
		t, ok, err := s.Tokens.Find(text, time.Now())
		if err != nil {
			s.Log.Error("cannot read the tokens", "error", err)
			return client{}, &refusal{http.StatusServiceUnavailable, "tokens", "cannot check the token"}
		}
		if ok {
			return client{t.Name, t.Scopes}, nil
		}
	}
	if s.Issuer != nil && strings.Count(text, ".") == 2 {
		return s.Issuer.client(ctx, text)
	}
	return client{}, &refusal{http.StatusUnauthorized, "token", "the token is not valid"}
}

// challenge returns the WWW-Authenticate header of a refusal.
func (s *Server) challenge(r *refusal) string {
	c := `Bearer realm="docsearch"`
	switch {
	case r.reason == "scope":
		c += `, error="insufficient_scope"`
	case r.status == http.StatusUnauthorized && r.reason != "no token":
		c += `, error="invalid_token"`
	}
	if s.Issuer != nil {
		c += fmt.Sprintf(`, resource_metadata="%s%s%s"`, s.public, metadataPath, Endpoint)
	}
	return c
}

const (
	// maxPerClient limits the requests of one token that are handled at once, and
	// maxStreams the streams on which its clients wait for notifications.
	maxPerClient = 64
	maxStreams   = 64
	// burst is the number of seconds of the rate that a client may use at once.
	burst = 2
	// maxClients is the number of clients from which idle ones are forgotten.
	maxClients = 10_000
	// queueTime limits how long a request waits for others to finish.
	queueTime = 5 * time.Second
)

// clientLimits counts the requests of each client.
type clientLimits struct {
	mu sync.Mutex
	by map[string]*usage
}

// usage is the use of the server by a client. tokens is the number of requests that it may
// send now: the token bucket of rate limiting.
type usage struct {
	tokens            float64
	updated           time.Time
	requests, streams int
}

// begin counts a request. It returns false if the client has reached a limit.
func (l *clientLimits) begin(name string, stream bool, rate float64, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]*usage{}
	}
	u := l.by[name]
	if u == nil {
		if len(l.by) >= maxClients {
			l.forget(now)
		}
		u = &usage{tokens: burst * rate, updated: now}
		l.by[name] = u
	}
	u.tokens = min(burst*rate, u.tokens+rate*now.Sub(u.updated).Seconds())
	u.updated = now
	if u.tokens < 1 || stream && u.streams >= maxStreams || !stream && u.requests >= maxPerClient {
		return false
	}
	u.tokens--
	if stream {
		u.streams++
	} else {
		u.requests++
	}
	return true
}

// end counts the end of a request.
func (l *clientLimits) end(name string, stream bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u := l.by[name]; stream {
		u.streams--
	} else {
		u.requests--
	}
}

// forget forgets clients without requests, whose bucket is full again by now.
func (l *clientLimits) forget(now time.Time) {
	for name, u := range l.by {
		if u.requests+u.streams == 0 && now.Sub(u.updated) > burst*time.Second {
			delete(l.by, name)
		}
	}
}

// admit waits until the request can be handled. The caller must call release.
func (s *Server) admit(ctx context.Context, r *request) (release func(), refused *refusal) {
	name, stream := r.client.name, r.streams
	if !s.clients.begin(name, stream, s.Rate, time.Now()) {
		return nil, &refusal{http.StatusTooManyRequests, "rate", "too many requests with this token"}
	}
	if stream { // waits without work
		return func() { s.clients.end(name, stream) }, nil
	}
	timer := time.NewTimer(queueTime)
	defer timer.Stop()
	select {
	case s.requests <- struct{}{}:
		return func() {
			<-s.requests
			s.clients.end(name, stream)
		}, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	s.clients.end(name, stream)
	return nil, &refusal{http.StatusServiceUnavailable, "busy", "too many requests"}
}
