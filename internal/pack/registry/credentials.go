package registry

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// A credentialGuard sends the credentials of a registry only to the registry, and to the
// token service that its challenge names if that belongs to the same site and is reached
// over https, as auth.docker.io for registry-1.docker.io. Requests without credentials, such
// as those for the token of a public repository, may go to any token service.
type credentialGuard struct {
	registry *url.URL
	next     http.RoundTripper
}

func (g *credentialGuard) RoundTrip(r *http.Request) (*http.Response, error) {
	if hasCredentials(r) && !g.mayKnow(r.URL) {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, &CredentialError{g.registry.Host, r.URL.Scheme + "://" + r.URL.Host}
	}
	return g.next.RoundTrip(r)
}

// hasCredentials reports whether a request has a password or token, in its header or, as
// in requests for OAuth 2 tokens, in its form.
func hasCredentials(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" || r.URL.User != nil ||
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
}

// mayKnow reports whether the credentials of the registry may be sent to a URL.
func (g *credentialGuard) mayKnow(u *url.URL) bool {
	if u.Scheme == g.registry.Scheme && strings.EqualFold(u.Host, g.registry.Host) {
		return true
	}
	return u.Scheme == "https" && g.registry.Scheme == "https" && site(u.Hostname()) == site(g.registry.Hostname())
}

// site returns the part of a host name that one owner registers, as docker.io. An IP
// address or a name without an owner is a site of its own.
func site(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if owner, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil && net.ParseIP(host) == nil {
		return owner
	}
	return host
}

// A CredentialError reports a registry that asks for its credentials at a host that they
// do not belong to.
type CredentialError struct{ Registry, Asked string }

func (e *CredentialError) Error() string {
	return fmt.Sprintf("%s asks for its credentials at %s, which is not an https address of the same site", e.Registry,
		e.Asked)
}
