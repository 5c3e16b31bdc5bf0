// Package loopback recognizes hosts that are this machine by definition. Requests to them
// do not leave it, so they need no encryption.
package loopback

import (
	"net/netip"
	"net/url"
	"strings"
)

// IsHost reports whether a host, with or without a port, is "localhost" or a loopback
// address. It resolves no names.
func IsHost(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	if addr, err := netip.ParseAddr(host); err == nil { // IPv6 without brackets
		return addr.Unmap().IsLoopback()
	}
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// IsSafe reports whether nobody else can read or change a request to a URL: its scheme is
// https, or http with a host that is this machine.
func IsSafe(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && IsHost(u.Host))
}
