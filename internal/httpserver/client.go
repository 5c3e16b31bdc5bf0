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

	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
	"github.com/docsearch/docsearch/internal/httpserver/connlimit"
)

// A client is the sender of a request, known by its token.
type client struct {
	clientID
	scopes accesstoken.Scopes
}

// A clientID identifies a client. Names of different kinds are independent: the subject of
// a JSON Web Token can be the name of a token.
type clientID struct {
	kind string // one of the kinds below; "": the server needs no token, or the client is not known
	name string
}

const (
	kindToken     = "token"      // name of a token
	kindShared    = "shared"     // the token that has no name
	kindSubject   = "jwt"        // subject of a JSON Web Token; "": it names nobody
	kindJWTClient = "jwt-client" // OAuth client of a JSON Web Token without a subject
	kindAddress   = "address"    // of a client that is not known, for its limits
)

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
func (s *Server) protected(ctx context.Context) (bool, error) {
	if s.Token != "" || s.Issuer != nil {
		return true, nil
	}
	if s.Tokens == nil {
		return false, nil
	}
	return s.Tokens.Exists(ctx)
}

// authenticate returns the client with a token.
func (s *Server) authenticate(r *http.Request, text string) (client, *refusal) {
	protected, err := s.protected(r.Context())
	if err != nil {
		s.Log.Error("cannot read the tokens", "error", err)
		return client{}, &refusal{http.StatusServiceUnavailable, "tokens", "cannot check the token"}
	}
	if !protected {
		return client{scopes: allScopes}, nil
	}
	if text == "" {
		return client{}, &refusal{http.StatusUnauthorized, "no token", "a bearer token is required"}
	}
	if s.Token != "" {
		want, got := sha256.Sum256([]byte(s.Token)), sha256.Sum256([]byte(text))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return client{clientID{kindShared, "shared"}, allScopes}, nil
		}
	}
	if s.Tokens != nil {
		t, ok, err := s.Tokens.Find(r.Context(), text, time.Now())
		if err != nil {
			s.Log.Error("cannot read the tokens", "error", err)
			return client{}, &refusal{http.StatusServiceUnavailable, "tokens", "cannot check the token"}
		}
		if ok {
			return client{clientID{kindToken, t.Name}, t.Scopes}, nil
		}
	}
	if s.Issuer != nil && strings.Count(text, ".") == 2 {
		return s.clientOfJWT(r, text)
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
	// maxPerClient limits the requests of one client that are handled at once,
	// maxPerAddress those of an address that has not shown a token, and maxStreams the
	// streams on which a client waits for notifications, maxAllStreams all of them.
	maxPerClient  = 64
	maxPerAddress = 16
	maxStreams    = 64
	maxAllStreams = maxConnections / 2
	// burst is the number of seconds of the rate that a client may use at once.
	burst = 2
	// maxClients is the number of clients from which idle ones are forgotten.
	maxClients = 10_000
	// queueTime limits how long a request waits for others to finish.
	queueTime = 5 * time.Second
)

// clientLimits counts the requests of each client.
type clientLimits struct {
	mu      sync.Mutex
	by      map[clientID]*usage
	streams int // of all clients
}

// usage is the use of the server by a client. tokens is the number of requests that it may
// send now: the token bucket of rate limiting.
type usage struct {
	tokens            float64
	updated           time.Time
	requests, streams int
}

// begin counts a request. It returns false if the client has reached a limit.
func (l *clientLimits) begin(id clientID, stream bool, rate float64, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[clientID]*usage{}
	}
	u := l.by[id]
	if u == nil {
		if len(l.by) >= maxClients {
			l.forget(now)
		}
		u = &usage{tokens: burst * rate, updated: now}
		l.by[id] = u
	}
	limit := maxPerClient
	if id.kind == kindAddress {
		limit = maxPerAddress
	}
	u.tokens = min(burst*rate, u.tokens+rate*now.Sub(u.updated).Seconds())
	u.updated = now
	if u.tokens < 1 || stream && (u.streams >= maxStreams || l.streams >= maxAllStreams) ||
		!stream && u.requests >= limit {
		return false
	}
	u.tokens--
	if stream {
		u.streams++
		l.streams++
	} else {
		u.requests++
	}
	return true
}

// end counts the end of a request.
func (l *clientLimits) end(id clientID, stream bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u := l.by[id]; stream {
		u.streams--
		l.streams--
	} else {
		u.requests--
	}
}

// forget forgets clients without requests, whose bucket is full again by now.
func (l *clientLimits) forget(now time.Time) {
	for id, u := range l.by {
		if u.requests+u.streams == 0 && now.Sub(u.updated) > burst*time.Second {
			delete(l.by, id)
		}
	}
}

// errBusy refuses a request because all clients together have too many.
var errBusy = &refusal{http.StatusServiceUnavailable, "busy", "too many requests"}

// admit waits until the request can be handled. The caller must call release.
func (s *Server) admit(ctx context.Context, r *request) (release func(), refused *refusal) {
	id, stream := r.client.clientID, r.streams
	if !s.clients.begin(id, stream, s.Rate, time.Now()) {
		return nil, &refusal{http.StatusTooManyRequests, "rate", "too many requests with this token"}
	}
	if stream { // waits without work
		return func() { s.clients.end(id, stream) }, nil
	}
	timer := time.NewTimer(queueTime)
	defer timer.Stop()
	select {
	case s.requests <- struct{}{}:
		return func() {
			<-s.requests
			s.clients.end(id, stream)
		}, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	s.clients.end(id, stream)
	return nil, errBusy
}

// admitAnonymous admits a request whose client is not known. It does not wait, because
// waiting requests would occupy connections. The caller must call release.
func (s *Server) admitAnonymous(r *http.Request) (release func(), refused *refusal) {
	id := clientID{kindAddress, connlimit.Address(r.RemoteAddr)}
	if !s.clients.begin(id, false, s.Rate, time.Now()) {
		return nil, &refusal{http.StatusTooManyRequests, "address",
			"too many requests without a token from this address"}
	}
	select {
	case s.anonymous <- struct{}{}:
		return func() {
			<-s.anonymous
			s.clients.end(id, false)
		}, nil
	default:
		s.clients.end(id, false)
		return nil, errBusy
	}
}
