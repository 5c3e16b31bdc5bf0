package site

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A Transport sends requests that begin with a URL of the user, and follow redirects and
// other addresses in the answers of servers. It checks the address of each connection;
// the error is an *AddressError.
//
// Where the user has set a proxy (see http.ProxyFromEnvironment), the proxy resolves the
// names of hosts. Then the Transport checks only hosts that are IP addresses.
type Transport struct {
	guard           *guard
	direct, proxied *http.Transport
}

// NewTransport returns a Transport for the user's URL. It takes over base for the other
// settings.
func NewTransport(start *url.URL, network Network, base *http.Transport) *Transport {
	return newTransport(newGuard(start, network), base, net.Dialer{Timeout: dialTimeout})
}

func newTransport(g *guard, base *http.Transport, dialer net.Dialer) *Transport {
	// Two transports keep the connections to a proxy apart from direct ones: a redirect to
	// the address of the proxy does not get around the guard.
	t := &Transport{guard: g, direct: base, proxied: base.Clone()}
	t.direct.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return g.dial(ctx, dialer, network, address)
	}
	t.direct.Proxy = nil
	t.proxied.DialContext, t.proxied.Proxy = dialer.DialContext, http.ProxyFromEnvironment
	return t
}

// RoundTrip sends a request.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	proxy, err := http.ProxyFromEnvironment(r)
	if err == nil && proxy == nil {
		return t.direct.RoundTrip(r)
	}
	if err == nil {
		err = t.checkLiteral(r.URL)
	}
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	return t.proxied.RoundTrip(r)
}

// checkLiteral returns an error if the host of a URL is an IP address that the guard does
// not allow.
func (t *Transport) checkLiteral(u *url.URL) error {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil
	}
	if addr = addr.Unmap().WithZone(""); !t.guard.allows(strings.EqualFold(dialAddress(u), t.guard.address), addr) {
		return &AddressError{u.Hostname(), addr}
	}
	return nil
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.proxied.CloseIdleConnections()
}
