package httpserver

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
	"github.com/docsearch/docsearch/internal/parallel"
)

// ScopePrefix precedes docsearch's scopes in a JSON Web Token, whose other scopes are
// ignored: "docsearch:read:gitlab".
const ScopePrefix = "docsearch:"

const (
	// issuerTimeout limits an attempt to get the issuer's keys, and issuerPause is the
	// minimum time between two: a client with made-up tokens must not cause more.
	issuerTimeout = 10 * time.Second
	issuerPause   = 5 * time.Second
	// issuerWait limits how long a request waits for an attempt.
	issuerWait = 3 * time.Second
	// maxKeys is the maximum size of the issuer's keys in bytes.
	maxKeys = 1 << 20
)

// algorithms are the accepted signature algorithms. Symmetric ones and "none" are not:
// the server has only public keys.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256,
	oidc.ES384, oidc.ES512, oidc.EdDSA}

// An Issuer is an OAuth authorization server, whose access tokens are JSON Web Tokens.
type Issuer struct {
	url, audience string
	http          *http.Client

	keys   atomic.Pointer[[]crypto.PublicKey] // nil: not known yet
	asking parallel.Shared[struct{}]
	tried  time.Time // end of the last attempt; only the attempt uses it, like failed
	failed error     // of the last attempt
}

// NewIssuer returns the issuer at a URL, whose tokens must have the audience. It connects
// at the first token, so that a server starts without its issuer.
func NewIssuer(url, audience string) *Issuer {
	return &Issuer{url: url, audience: audience, http: &http.Client{Timeout: issuerTimeout}}
}

// clientOfJWT returns the client with a JSON Web Token. Only a token that none of the
// known keys has signed waits for the issuer, in the slots of unknown clients.
func (s *Server) clientOfJWT(r *http.Request, token string) (client, *refusal) {
	c, err := s.Issuer.client(r.Context(), token)
	if errors.Is(err, errUnknownKey) {
		release, refused := s.admitAnonymous(r)
		if refused != nil {
			return client{}, refused
		}
		defer release()
		ctx, cancel := context.WithTimeout(r.Context(), issuerWait)
		defer cancel()
		if err := s.Issuer.refresh(ctx); err != nil {
			s.Log.Warn("cannot get the keys of the issuer", "error", err)
			return client{}, &refusal{http.StatusServiceUnavailable, "issuer", "cannot reach the issuer of the token"}
		}
		c, err = s.Issuer.client(r.Context(), token)
	}
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return client{}, &refusal{http.StatusUnauthorized, "expired", "the token has expired"}
	case err != nil:
		return client{}, &refusal{http.StatusUnauthorized, "token", "the token is not valid"}
	}
	return c, nil
}

// errUnknownKey is the error of a token that none of the known keys has signed.
var errUnknownKey = errors.New("the key of the token is not known")

// client returns the client with a JSON Web Token that one of the known keys has signed.
// It sends no request.
func (i *Issuer) client(ctx context.Context, token string) (client, error) {
	known := i.keys.Load()
	if known == nil {
		return client{}, errUnknownKey
	}
	keys := &keySet{StaticKeySet: oidc.StaticKeySet{PublicKeys: *known}}
	verified, err := oidc.NewVerifier(i.url, keys,
		&oidc.Config{ClientID: i.audience, SupportedSigningAlgs: algorithms}).Verify(ctx, token)
	if keys.unknown {
		return client{}, errUnknownKey
	}
	if err != nil {
		return client{}, err
	}
	var claims struct {
		Scope    string   `json:"scope"`
		Scopes   []string `json:"scp"`
		ClientID string   `json:"client_id"`
		Party    string   `json:"azp"`
	}
	if err := verified.Claims(&claims); err != nil {
		return client{}, err
	}
	c := client{clientID: clientID{kindSubject, verified.Subject}}
	if name := cmp.Or(claims.ClientID, claims.Party); c.name == "" && name != "" {
		c.clientID = clientID{kindJWTClient, name}
	}
	for _, scope := range append(strings.Fields(claims.Scope), claims.Scopes...) {
		if own, ok := strings.CutPrefix(scope, ScopePrefix); ok {
			c.scopes = append(c.scopes, own)
		}
	}
	return c, nil
}

// A keySet verifies signatures, and records whether none of its keys has made one.
type keySet struct {
	oidc.StaticKeySet
	unknown bool
}

// VerifySignature implements oidc.KeySet.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := s.StaticKeySet.VerifySignature(ctx, token)
	s.unknown = err != nil
	return payload, err
}

// refresh asks the issuer for its keys, unless that was done a moment ago. All callers
// share one attempt, which continues when ctx ends.
func (i *Issuer) refresh(ctx context.Context) error {
	_, err := i.asking.Do(ctx, "", func(ctx context.Context) (struct{}, error) {
		if time.Since(i.tried) < issuerPause {
			return struct{}{}, i.failed
		}
		keys, err := i.fetch(ctx)
		if err == nil {
			i.keys.Store(&keys)
		}
		i.tried, i.failed = time.Now(), err
		return struct{}{}, err
	})
	return err
}

// fetch reads the issuer's metadata, and the keys that they name.
func (i *Issuer) fetch(ctx context.Context) ([]crypto.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, issuerTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.http), i.url)
	if err != nil {
		return nil, err
	}
	var metadata struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, metadata.KeysURL, nil)
	if err != nil {
		return nil, err
	}
	res, err := i.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", metadata.KeysURL, res.Status)
	}
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(io.LimitReader(res.Body, maxKeys)).Decode(&set); err != nil {
		return nil, fmt.Errorf("%s: %w", metadata.KeysURL, err)
	}
	keys := []crypto.PublicKey{}
	for _, k := range set.Keys {
		switch k.Key.(type) {
		case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey:
			if k.Use != "enc" {
				keys = append(keys, k.Key)
			}
		}
	}
	return keys, nil
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
