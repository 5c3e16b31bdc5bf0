package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/docsearch/docsearch/internal/accesstoken"
)

// ScopePrefix precedes docsearch's scopes in a JSON Web Token, whose other scopes are
// ignored: "docsearch:read:gitlab".
const ScopePrefix = "docsearch:"

const (
	// issuerTimeout limits a request to the issuer, and issuerPause is the minimum time
	// between two requests: a client with made-up key IDs must not cause more.
	issuerTimeout = 10 * time.Second
	issuerPause   = 5 * time.Second
)

// algorithms are the accepted signature algorithms. Symmetric ones and "none" are not:
// the server has only public keys.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// An Issuer is an OAuth authorization server, whose access tokens are JSON Web Tokens.
type Issuer struct {
	url, audience string
	http          *http.Client

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // nil: not discovered yet
	tried    time.Time             // last attempt to discover it
}

// NewIssuer returns the issuer at a URL, whose tokens must have the audience. It connects
// at the first token, so that a server starts without its issuer.
func NewIssuer(url, audience string) *Issuer {
	return &Issuer{url: url, audience: audience, http: &http.Client{Timeout: issuerTimeout, Transport: &pacedTransport{}}}
}

// client returns the client with a JSON Web Token.
func (i *Issuer) client(ctx context.Context, token string) (client, *refusal) {
	verifier, err := i.discover()
	if err != nil {
		return client{}, &refusal{http.StatusServiceUnavailable, "issuer", "cannot reach the issuer of the token"}
	}
	verified, err := verifier.Verify(ctx, token)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return client{}, &refusal{http.StatusUnauthorized, "expired", "the token has expired"}
	case err != nil:
		return client{}, &refusal{http.StatusUnauthorized, "token", "the token is not valid"}
	}
	var claims struct {
		Scope  string   `json:"scope"`
		Scopes []string `json:"scp"`
	}
	if err := verified.Claims(&claims); err != nil {
		return client{}, &refusal{http.StatusUnauthorized, "token", "the token is not valid"}
	}
	c := client{name: verified.Subject}
	for _, scope := range append(strings.Fields(claims.Scope), claims.Scopes...) {
		if own, ok := strings.CutPrefix(scope, ScopePrefix); ok {
			c.scopes = append(c.scopes, own)
		}
	}
	return c, nil
}

// discover reads the issuer's metadata, once.
func (i *Issuer) discover() (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.verifier != nil {
		return i.verifier, nil
	}
	if time.Since(i.tried) < issuerPause {
		return nil, errors.New("the issuer did not respond")
	}
	i.tried = time.Now()
	// The context outlives the request: the verifier downloads new keys with it.
	provider, err := oidc.NewProvider(oidc.ClientContext(context.Background(), i.http), i.url)
	if err != nil {
		return nil, err
	}
	i.verifier = provider.Verifier(&oidc.Config{ClientID: i.audience, SupportedSigningAlgs: algorithms})
	return i.verifier, nil
}

// A pacedTransport limits the requests for keys.
type pacedTransport struct {
	mu   sync.Mutex
	last map[string]time.Time // by URL
}

func (t *pacedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	now, url := time.Now(), r.URL.String()
	early := now.Sub(t.last[url]) < issuerPause
	if !early {
		if t.last == nil {
			t.last = map[string]time.Time{}
		}
		t.last[url] = now
	}
	t.mu.Unlock()
	if early {
		return nil, fmt.Errorf("a request to %s was sent less than %s ago", url, issuerPause)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// writeResourceMetadata writes the OAuth 2.0 protected resource metadata (RFC 9728), from
// which an MCP client learns where to get a token.
func (s *Server) writeResourceMetadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"resource":                 s.public.String() + Endpoint,
		"authorization_servers":    []string{s.Issuer.url},
		"scopes_supported":         []string{ScopePrefix + accesstoken.ScopeRead},
		"bearer_methods_supported": []string{"header"},
	})
}
