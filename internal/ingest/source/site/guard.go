package site

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// An AddressError reports that the site's name resolves to an address that a
// public site must not have.
type AddressError struct {
	Host string
	Addr netip.Addr
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("%s resolves to %s, which is not a public address", e.Host, e.Addr)
}

// A guard decides to which addresses connections are allowed.
type guard struct {
	host    string     // host of the user's URL
	literal netip.Addr // host, if it is an IP address
	private bool       // the user allowed private addresses
}

func newGuard(host string, private bool) *guard {
	g := &guard{host: host, private: private}
	if addr, err := netip.ParseAddr(host); err == nil {
		g.literal = addr.Unmap()
	}
	return g
}

// control is a net.Dialer's Control. It runs right before the connection, when
// the address is resolved.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	addr := ap.Addr().Unmap().WithZone("")
	if !g.allows(addr) {
		return &AddressError{g.host, addr}
	}
	return nil
}

func (g *guard) allows(addr netip.Addr) bool {
	switch {
	case addr == g.literal.WithZone(""):
		return true
	case g.literal.IsValid():
		return false
	case isLocalhost(g.host):
		return addr.IsLoopback()
	case isPublic(addr):
		return true
	}
	return g.private && (addr.IsLoopback() || addr.IsPrivate() || carrier.Contains(addr)) && !isCloudMetadata(addr)
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
