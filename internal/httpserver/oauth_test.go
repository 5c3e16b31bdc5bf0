package httpserver

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A testIssuer is an OAuth authorization server on loopback.
type testIssuer struct {
	url         string
	key         *rsa.PrivateKey
	requests    atomic.Int64 // for keys
	discoveries atomic.Int64
	answering   sync.RWMutex // locked while it hangs
}

func newTestIssuer(t *testing.T) *testIssuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &testIssuer{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.discoveries.Add(1)
		i.answering.RLock()
		defer i.answering.RUnlock()
		json.NewEncoder(w).Encode(map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/auth", "token_endpoint": i.url + "/token"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.requests.Add(1)
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	i.url = s.URL
	return i
}

// hang makes the issuer accept requests and not answer them until resume is called.
func (i *testIssuer) hang(t *testing.T) (resume func()) {
	t.Helper()
	i.answering.Lock()
	resume = sync.OnceFunc(i.answering.Unlock)
	t.Cleanup(resume)
	return resume
}

// token returns an access token.
func (i *testIssuer) token(t *testing.T, audience string, change func(map[string]any)) string {
	t.Helper()
	return i.sign(t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.key, KeyID: "1"}}, audience, change)
}

// symmetric returns a token that is signed with the public key as if it were a secret.
func (i *testIssuer) symmetric(t *testing.T, audience string) string {
	t.Helper()
	return i.sign(t, jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: x509.MarshalPKCS1PublicKey(&i.key.PublicKey), KeyID: "1"}}, audience, nil)
}

func (i *testIssuer) sign(t *testing.T, key jose.SigningKey, audience string, change func(map[string]any)) string {
	t.Helper()
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{"iss": i.url, "aud": audience, "sub": "agent-7", "scope": "openid docsearch:read", "exp": time.Now().Add(time.Hour).Unix()}
	if change != nil {
		change(claims)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// forged changes the claims of a token and keeps its signature.
func forged(token string) string {
	parts := strings.Split(token, ".")
	claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(claims), "agent-7", "agent-8", 1)))
	return strings.Join(parts, ".")
}

// unsigned replaces the signature algorithm of a token by "none".
func unsigned(token string) string {
	parts := strings.Split(token, ".")
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
}

func TestResourceMetadata(t *testing.T) {
	issuer := newTestIssuer(t)
	url, _ := start(t, newServer(t, Options{Issuer: NewIssuer(issuer.url, ""), PublicURL: "https://docs.example.com"}))
	for _, path := range []string{metadataPath, metadataPath + Endpoint} {
		status, _, body := send(t, http.DefaultClient, http.MethodGet, url+path, "", "docs.example.com", nil)
		var got struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || got.Resource != "https://docs.example.com/mcp" || len(got.Servers) != 1 || got.Servers[0] != issuer.url {
			t.Errorf("%s: status %d, %v: %s", path, status, err, body)
		}
	}
	if _, err := New(Options{Issuer: NewIssuer(issuer.url, "")}); err == nil {
		t.Error("an issuer without a public URL")
	}
}

// Tokens with made-up key IDs do not make the server ask the issuer each time, and a
// server whose issuer is down stays up.
func TestIssuerFlood(t *testing.T) {
	issuer := newTestIssuer(t)
	url, _ := start(t, newServer(t, Options{Issuer: NewIssuer(issuer.url, ""), PublicURL: "https://docs.example.com"}))
	for range 20 {
		if status, _, _ := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, ping, "", bearer(forged(issuer.token(t, "https://docs.example.com/mcp", nil)))); status != 401 {
			t.Fatalf("status %d", status)
		}
	}
	if n := issuer.requests.Load(); n > 2 {
		t.Errorf("%d requests for keys", n)
	}
	down, _ := start(t, newServer(t, Options{Issuer: NewIssuer("http://127.0.0.1:1", ""), PublicURL: "https://docs.example.com"}))
	if status, _, _ := send(t, http.DefaultClient, http.MethodPost, down+Endpoint, ping, "", bearer(issuer.token(t, "x", nil))); status != http.StatusServiceUnavailable {
		t.Errorf("without its issuer: status %d", status)
	}
}
