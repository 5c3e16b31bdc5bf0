package connlimit

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// serve serves requests with at most limit connections. Requests for /wait last until the
// returned function is called; the channel gets a value when one begins.
func serve(t *testing.T, limit int) (l *listener, began <-chan bool, release func()) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	waiting, begins := make(chan struct{}), make(chan bool, 2*limit)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		end, free := Begin(r.Context())
		defer end()
		if r.URL.Path == "/wait" {
			begins <- free
			<-waiting
		}
		fmt.Fprint(w, free)
	})}
	l = Listen(inner, server, limit).(*listener)
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l, begins, func() { close(waiting) }
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

func get(t *testing.T, c net.Conn, path string) string {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Connections without a request keep nobody out. The oldest of them is closed.
func TestIdle(t *testing.T) {
	l, _, _ := serve(t, 16)
	first := dial(t, l)
	get(t, first, "/")
	for range 50 {
		dial(t, l)
	}
	if got := get(t, dial(t, l), "/"); got != "true" {
		t.Errorf("a request beside idle connections: %s", got)
	}
	if _, err := first.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the oldest connection is open: %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.open); n > 16 {
		t.Errorf("%d connections are open", n)
	}
}

// While requests occupy the connections, new ones are served nevertheless, and learn it.
func TestBusy(t *testing.T) {
	l, began, release := serve(t, 16)
	for range 15 {
		go io.WriteString(dial(t, l), "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if !<-began {
			t.Fatal("a request was to be refused although there is room")
		}
	}
	for range 3 {
		if got := get(t, dial(t, l), "/"); got != "false" {
			t.Errorf("free: %s", got)
		}
	}
	release()
}

// The address with the most idle connections loses one first.
func TestVictim(t *testing.T) {
	now := time.Now()
	l := &listener{open: map[*conn]bool{}}
	add := func(address string, age time.Duration, requests int) *conn {
		c := &conn{l: l, address: address, since: now.Add(-age), requests: requests}
		l.open[c] = true
		return c
	}
	add("lone", time.Hour, 0)
	add("crowd", 2*time.Hour, 1)
	add("crowd", time.Second, 0)
	want := add("crowd", time.Minute, 0)
	if got := l.victim(); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80":              "192.0.2.1",
		"[::ffff:192.0.2.1]:80":     "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":         "fe80::/64",
		"localhost:80":              "localhost",
		"@":                         "@",
	} {
		if got := Address(remote); got != want {
			t.Errorf("Address(%q) = %q, want %q", remote, got, want)
		}
	}
}
