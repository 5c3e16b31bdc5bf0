package site

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
)

// An AddressError reports a host with an address that a public host must not have.
type AddressError struct {
	Host string
	Addr netip.Addr
}

func (e *AddressError) Error() string {
	if e.Host == e.Addr.String() {
		return e.Host + " is not a public address"
	}
	return fmt.Sprintf("%s resolves to %s, which is not a public address", e.Host, e.Addr)
}

// A Network says which addresses besides the public ones a host may have. An address in
// the user's URL is always allowed, for that host and port only.
type Network int

const (
	// Public allows no others.
	Public Network = iota
	// Intranet allows private addresses for the host of the user's URL, and if it has one,
	// for the hosts that it redirects to. It never allows this machine.
	Intranet
	// Private allows private addresses and this machine, for all hosts.
	Private
)

// A guard decides to which addresses connections are allowed. It allows a link-local
// address or one of a cloud metadata service only if the user's URL has it.
type guard struct {
	host     string     // of the user's URL
	address  string     // host and port of the user's URL, as they are dialed
	literal  netip.Addr // host, if it is an IP address
	network  Network
	intranet atomic.Bool // the user's host has a private address
}

func newGuard(start *url.URL, network Network) *guard {
	g := &guard{host: start.Hostname(), address: dialAddress(start), network: network}
	if addr, err := netip.ParseAddr(g.host); err == nil {
		g.literal = addr.Unmap()
	}
	return g
}

// dialAddress returns the host and port that a transport dials for a URL.
func dialAddress(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// dial connects to an address. The dialer resolves its host, and the guard sees the
// result right before the connection, so DNS rebinding does not bypass it.
func (g *guard) dial(ctx context.Context, dialer net.Dialer, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	named := strings.EqualFold(address, g.address)
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if addr := ap.Addr().Unmap().WithZone(""); !g.allows(named, addr) {
			return &AddressError{host, addr}
		}
		return nil
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err == nil && named {
		if ap, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil && isPrivate(ap.Addr().Unmap()) {
			g.intranet.Store(true)
		}
	}
	return conn, err
}

// allows reports whether the host of the user's URL, or another one, may have an address.
func (g *guard) allows(named bool, addr netip.Addr) bool {
	if named {
		switch {
		case addr == g.literal.WithZone(""):
			return true
		case g.literal.IsValid():
			return false
		case isLocalhost(g.host):
			return addr.IsLoopback()
		}
	}
	switch {
	case isPublic(addr):
		return true
	case g.network == Private:
		return addr.IsLoopback() || isPrivate(addr)
	}
	return g.network == Intranet && (named || g.intranet.Load()) && isPrivate(addr)
}

// isPrivate reports whether the address belongs to a private network, and is not a cloud
// metadata service.
func isPrivate(addr netip.Addr) bool {
	return (addr.IsPrivate() || carrier.Contains(addr)) && !isCloudMetadata(addr)
}

// isLocalhost reports whether the name means this machine by definition.
func isLocalhost(host string) bool {
	host = strings.TrimSuffix(host, ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isCloudMetadata reports whether the address is a cloud metadata service. Most of
// these are link-local, which is never allowed.
func isCloudMetadata(addr netip.Addr) bool {
	return addr == netip.AddrFrom4([4]byte{100, 100, 100, 200}) || addr == netip.MustParseAddr("fd00:ec2::254")
}

// Special-purpose address blocks (IANA registries) that package netip does not
// know.
var (
	carrier = netip.MustParsePrefix("100.64.0.0/10")
	special = []netip.Prefix{
		carrier,
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("192.88.99.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("2001::/23"), // includes Teredo
		netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("2002::/16"), // 6to4
		netip.MustParsePrefix("3fff::/20"),
	}
	unicast6 = netip.MustParsePrefix("2000::/3")
	nat64    = netip.MustParsePrefix("64:ff9b::/96")
)

// isPublic reports whether the address belongs to the public network.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is6() && !unicast6.Contains(addr) {
		return false
	}
	for _, p := range special {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}
