package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/pack"
)

// TestCredentialHosts sends credentials to the registry and to the token services of its
// site.
func TestCredentialHosts(t *testing.T) {
	for _, c := range []struct {
		registry, asked string
		want            bool
	}{
		{"https://registry-1.docker.io", "https://auth.docker.io/token", true},
		{"https://ghcr.io", "https://ghcr.io/token", true},
		{"https://registry.gitlab.com", "https://gitlab.com/jwt/auth", true},
		{"https://registry.example.co.uk", "https://gitlab.example.co.uk/jwt/auth", true},
		{"https://registry.corp.internal:5000", "https://tokens.corp.internal/token", true},
		{"https://registry.example.com", "https://REGISTRY.example.com/token", true},
		{"https://10.0.0.5", "https://10.0.0.5:5001/token", true},
		{"http://127.0.0.1:5000", "http://127.0.0.1:5000/token", true},
		{"https://registry.example.com", "http://registry.example.com/token", false},
		{"https://registry.example.com", "http://auth.example.com/token", false},
		{"https://registry.example.com", "https://example.org/token", false},
		{"https://registry.example.com", "https://registry.example.com.attacker.test/token", false},
		{"https://registry.example.co.uk", "https://attacker.co.uk/token", false},
		{"https://one.github.io", "https://two.github.io/token", false},
		{"https://10.0.0.5", "https://10.0.0.6/token", false},
		{"http://127.0.0.1:5000", "http://127.0.0.1:5001/token", false},
		{"http://127.0.0.1:5000", "https://127.0.0.1:5000/token", false},
		{"http://localhost:5000", "http://auth.example.com/token", false},
		{"http://localhost:5000", "https://auth.example.com/token", false},
	} {
		start, err := url.Parse(c.registry)
		if err != nil {
			t.Fatal(err)
		}
		sent := false
		guard := &credentialGuard{start, roundTrip(func(*http.Request) (*http.Response, error) { sent = true; return nil, http.ErrNotSupported })}
		for name, secret := range map[string]func(r *http.Request){
			"a password":     func(r *http.Request) { r.SetBasicAuth("me", "secret") },
			"a token":        func(r *http.Request) { r.Header.Set("Authorization", "Bearer secret") },
			"a form":         func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
			"a user":         func(r *http.Request) { r.URL.User = url.UserPassword("me", "secret") },
			"no credentials": func(*http.Request) {},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.asked, strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			secret(r)
			sent = false
			_, err = guard.RoundTrip(r)
			want := c.want || name == "no credentials"
			if sent != want || errors.As(err, new(*CredentialError)) == want {
				t.Errorf("%s asks for %s at %s: sent %t (%v)", c.registry, name, c.asked, sent, err)
			}
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTokenService logs in at a registry with a token service of its own.
func TestTokenService(t *testing.T) {
	for _, entry := range []map[string]string{
		{"auth": base64.StdEncoding.EncodeToString([]byte("me:secret"))},
		{"auth": base64.StdEncoding.EncodeToString([]byte("me:")), "identitytoken": "secret"},
	} {
		var mu sync.Mutex
		issued := 0
		host := serve(t, true, func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				_, password, _ := r.BasicAuth()
				if password != "secret" && r.FormValue("refresh_token") != "secret" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				mu.Lock()
				issued++
				mu.Unlock()
				json.NewEncoder(w).Encode(map[string]string{"token": "t1", "access_token": "t1"})
				return
			}
			if r.Header.Get("Authorization") != "Bearer t1" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="docs"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
		config, err := json.Marshal(map[string]any{"auths": map[string]any{host: entry}})
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), config, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), Scheme+host+"/docs/widgets:1", pack.KindPack)
		if !IsNotFound(err) || issued == 0 {
			t.Errorf("%v: %v, %d tokens", entry, err, issued)
		}
	}
}
