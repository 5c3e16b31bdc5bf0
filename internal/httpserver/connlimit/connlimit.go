// Package connlimit limits the connections of an HTTP server such that clients that only
// hold connections open keep nobody out.
//
// Every connection is accepted. If there are too many, the limiter closes one that has no
// request: of the address with the most of them, the one that has waited longest. A part
// of the connections is reserved for the server's health: while requests occupy the rest,
// Begin tells the server to refuse further ones, so that there is always a connection to
// close.
package connlimit

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// reserved is the part of the connections that is left for new ones, as a divisor.
const reserved = 16

// A listener accepts connections and knows which of them have requests.
type listener struct {
	net.Listener
	limit int

	mu   sync.Mutex
	open map[*conn]bool
	busy int // connections with requests
}

// A conn is a connection with the number of its requests, which l.mu guards.
type conn struct {
	net.Conn
	l        *listener
	address  string
	requests int
	since    time.Time // has had no request since
}

type connKey struct{}

// Listen returns a listener for the server that keeps at most limit connections open.
func Listen(l net.Listener, server *http.Server, limit int) net.Listener {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
			c = over.NetConn()
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	return &listener{Listener: l, limit: limit, open: map[*conn]bool{}}
}

// Begin counts a request. The caller must call end. It returns false if so many
// connections have requests that the server should refuse this one at once.
func Begin(ctx context.Context) (end func(), free bool) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return func() {}, true
	}
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.requests++; c.requests == 1 {
		l.busy++
	}
	return c.end, l.busy <= l.limit-max(1, l.limit/reserved)
}

func (c *conn) end() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.requests--; c.requests == 0 {
		c.l.busy--
		c.since = time.Now()
	}
}

// Accept accepts a connection, and closes another one if there are too many.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, l: l, address: Address(accepted.RemoteAddr().String()), since: time.Now()}
	l.mu.Lock()
	var victim *conn
	if len(l.open) >= l.limit {
		victim = l.victim()
	}
	l.open[c] = true
	l.mu.Unlock()
	if victim != nil {
		victim.Close()
	}
	return c, nil
}

// victim returns the connection to close, or nil if all have requests.
func (l *listener) victim() *conn {
	idle := map[string]int{}
	for c := range l.open {
		if c.requests == 0 {
			idle[c.address]++
		}
	}
	var victim *conn
	for c := range l.open {
		if c.requests == 0 && (victim == nil || idle[c.address] > idle[victim.address] ||
			idle[c.address] == idle[victim.address] && c.since.Before(victim.since)) {
			victim = c
		}
	}
	return victim
}

// Close closes the connection.
func (c *conn) Close() error {
	c.l.mu.Lock()
	delete(c.l.open, c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// Address returns the part of a remote address, HOST:PORT, that one client has to itself:
// an IPv4 address, or the network of an IPv6 address, whose other bits clients choose.
func Address(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
