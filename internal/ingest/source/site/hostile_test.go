package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

// TestHostile downloads from a site with every kind of misbehavior.
func TestHostile(t *testing.T) {
	s := newServer(t)
	const maxPage = 1 << 20
	for path, h := range sitetest.Hostile(maxPage, 100) {
		s.handle(path, h)
	}
	opt := options(t, s.URL+"/docs/")
	opt.MaxPage, opt.MaxPages, opt.Timeout = maxPage, 60, 3*time.Second
	report := fetch(t, opt)

	diff(t, "failed", map[string]string{
		"/broken.xml":             "not well-formed: XML syntax error on line 1: unexpected EOF",
		"/docs/circle":            "too many redirects",
		"/docs/chain/10":          "too many redirects",
		"/docs/trickle":           "timeout after 3s",
		"/docs/errors":            "500 Internal Server Error, after 3 attempts",
		"/docs/cut":               "incomplete: unexpected EOF, after 3 attempts",
		"/docs/caf%EF%BF%BD.html": "404 Not Found",
		"/docs/overloaded":        "503 Service Unavailable, Retry-After 10h0m0s",
		"/docs/compressed":        "compressed as br, which was not requested",
		"/docs/lies":              "unexpected 304 Not Modified",
		"/docs/nothing":           "204 No Content",
	}, outcomes(s, report.Failed))
	diff(t, "skipped", map[string]string{
		"/docs/loopback":     "redirects to http://127.0.0.1:22/docs/, which is outside SITE/docs/",
		"/docs/metadata":     "redirects to http://169.254.169.254/latest/meta-data/, which is outside SITE/docs/",
		"/docs/scheme":       "redirects to an invalid URL",
		"/docs/flood":        "larger than the limit of 1 MB",
		"/docs/bomb":         "larger than the limit of 1 MB",
		"/docs/huge":         "100 MB, over the limit of 1 MB",
		"/docs/secret1.html": "disallowed by robots.txt",
		"/docs/image":        "image/png is not a text format",
	}, outcomes(s, report.Skipped))
	diff(t, "limits", []string{"reached the limit of 60 pages; the site has more"}, report.Limits)
	got := paths(t, opt)
	for _, want := range []string{"/docs/", "/docs/good.html", "/docs/listed.html", "/docs/busy", "/docs/broken.html", "/docs/after-broken.html", "/docs/wrong-charset.html", "/docs/endless/30"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %v", want, got)
		}
	}
	if report.Bytes > 10*maxPage {
		t.Errorf("%d bytes were received", report.Bytes)
	}
	if asked := s.requests(); slices.Contains(asked, "/docs/secret1.html") {
		t.Error("what robots.txt forbids was asked for")
	}
}

func TestRetryAfter(t *testing.T) {
	s := newServer(t)
	said := []string{"7", "Thu, 01 Jan 1970 00:00:12 GMT", ""}
	s.handle("/", func(w http.ResponseWriter, r *http.Request) {
		if said[0] != "" {
			w.Header().Set("Retry-After", said[0])
			w.WriteHeader(http.StatusTooManyRequests)
			said = said[1:]
			return
		}
		w.Header().Set("Content-Type", "text/html")
	})
	opt := options(t, s.URL)
	c := &clock{t: time.Unix(0, 0)}
	opt.now, opt.sleep = c.now, c.sleep
	fetch(t, opt)
	diff(t, "slept", []time.Duration{7 * time.Second, 5 * time.Second}, c.slept)
}

func TestPace(t *testing.T) {
	s := newServer(t)
	s.handle("/robots.txt", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\nCrawl-delay: 2.5") })
	s.set("/", sitetest.Links("a", "b"))
	s.set("/a", "a")
	s.set("/b", "b")
	opt := options(t, s.URL)
	opt.Discovery, opt.Concurrency = ByLinks, 1
	c := &clock{t: time.Unix(0, 0)}
	opt.now, opt.sleep = c.now, c.sleep
	fetch(t, opt)
	const d = 2500 * time.Millisecond
	// Not before the first page, since robots.txt had not set the delay yet.
	diff(t, "slept", []time.Duration{d, d, d}, c.slept)
}

func TestBackoff(t *testing.T) {
	for attempt, want := range []time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 100: 30 * time.Second} {
		if want == 0 {
			continue
		}
		for range 100 {
			if d := backoff(attempt); d < want/2 || d > want*3/2 {
				t.Errorf("backoff(%d) = %v, want about %v", attempt, d, want)
			}
		}
	}
}

func TestSiteGoesDown(t *testing.T) {
	s := newServer(t)
	var refs []string
	for i := range 200 {
		p := fmt.Sprintf("/%d", i)
		refs = append(refs, p)
		s.set(p, p)
	}
	s.set("/", sitetest.Links(refs...))
	down := func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close()
		}
	}
	for _, p := range refs[50:] {
		s.handle(p, down)
	}
	opt := options(t, s.URL)
	opt.Concurrency = 1
	report := fetch(t, opt)
	if report.Complete || len(report.Failed) != maxSilent || report.Fetched != 51 {
		t.Errorf("complete %t, %d failed, %d fetched", report.Complete, len(report.Failed), report.Fetched)
	}
	diff(t, "limits", []string{"the site stopped responding: 130 pages were not requested; the next run resumes"}, report.Limits)
	for _, p := range refs[50:] {
		s.set(p, p)
	}
	s.requests()
	report = fetch(t, opt)
	if !report.Complete || report.Resumed != 51 || report.Fetched != 150 || report.Pages != 201 {
		t.Errorf("the next run: %+v", report)
	}
	if asked := s.requests(); len(asked) != 150 {
		t.Errorf("the next run asked for %d pages", len(asked))
	}
}

func TestMaxBytes(t *testing.T) {
	s := newServer(t)
	var refs []string
	for i := range 20 {
		p := fmt.Sprintf("/%d", i)
		refs = append(refs, p)
		s.set(p, p+strings.Repeat("x", 100<<10))
	}
	s.set("/", sitetest.Links(refs...))
	opt := options(t, s.URL)
	opt.Concurrency, opt.MaxBytes = 1, 1<<20
	report := fetch(t, opt)
	diff(t, "limits", []string{"reached the limit of 1 MB: 10 pages were not downloaded"}, report.Limits)
	if report.Pages != 11 || !report.Complete || report.Bytes > opt.MaxBytes+64<<10 {
		t.Errorf("%+v", report)
	}
}

// The byte limit applies to everything that a site sends.
func TestMaxBytesOfLists(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	zipped := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	list := func(i int) string { // links to two more
		return fmt.Sprintf("<sitemapindex><sitemap><loc>SITE/s/%d.xml</loc></sitemap><sitemap><loc>SITE/s/%d.xml</loc></sitemap><!--%s--></sitemapindex>", 2*i+1, 2*i+2, long)
	}
	for _, tt := range []struct {
		name  string
		setup func(s *server)
	}{
		{"sitemaps", func(s *server) {
			for i := range 100 {
				s.serve(fmt.Sprintf("/s/%d.xml", i), "text/xml", list(i))
			}
			s.serve("/sitemap.xml", "text/xml", list(0))
		}},
		{"compressed sitemaps", func(s *server) {
			for i := range 100 {
				s.handle(fmt.Sprintf("/s/%d.xml", i), func(w http.ResponseWriter, r *http.Request) {
					io.WriteString(w, zipped(strings.ReplaceAll(list(i), "SITE", s.URL)))
				})
			}
			s.serve("/sitemap.xml", "text/xml", list(0))
		}},
		{"llms.txt", func(s *server) {
			for i := range 100 {
				s.serve(fmt.Sprintf("/%d/llms.txt", i), "text/plain", fmt.Sprintf("[a](/%d/llms.txt) [b](/%d/llms.txt)\n%s", 2*i+1, 2*i+2, long))
			}
			s.serve("/llms.txt", "text/plain", "[a](/0/llms.txt)")
		}},
		{"robots.txt", func(s *server) { s.serve("/robots.txt", "text/plain", strings.Repeat(long, 50)) }},
		{"redirects", func(s *server) {
			for i := range 1000 {
				s.handle(fmt.Sprintf("/r/%d", i), func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("X-Padding", long[:200<<10])
					http.Redirect(w, r, fmt.Sprintf("/r/%d", i+1), http.StatusFound)
				})
			}
			var refs []string
			for i := range 100 {
				refs = append(refs, fmt.Sprintf("/r/%d", 10*i))
			}
			s.set("/", sitetest.Links(refs...))
		}},
		{"errors", func(s *server) {
			var refs []string
			for i := range 100 {
				refs = append(refs, fmt.Sprintf("/r/%d", i))
				s.handle(refs[i], func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("X-Padding", long[:200<<10])
					w.WriteHeader(http.StatusInternalServerError)
				})
			}
			s.set("/", sitetest.Links(refs...))
		}},
		{"refused pages", func(s *server) {
			var refs []string
			for i := range 100 {
				refs = append(refs, fmt.Sprintf("/p/%d", i))
				s.handle(refs[i], func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/html")
					w.(http.Flusher).Flush()
					io.WriteString(w, long)
				})
			}
			s.set("/", sitetest.Links(refs...))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			tt.setup(s)
			if s.pages["/"] == nil {
				s.set("/", "first")
			}
			var sent atomic.Int64
			s.Server.Config.Handler = counted(s.Server.Config.Handler, &sent)
			opt := options(t, s.URL)
			opt.MaxBytes, opt.MaxPage = 4<<20, 512<<10
			report, err := Fetch(t.Context(), opt)
			var limit *LimitError
			if !(errors.As(err, &limit) || err == nil && (len(report.Limits) > 0 || report.Complete)) {
				t.Errorf("limits %q, error %v", report.Limits, err)
			}
			// Allow for responses in flight at the limit, and for data in
			// system buffers.
			if most := opt.MaxBytes + 1<<20; report.Bytes > most || sent.Load() > 8*most {
				t.Errorf("%d bytes received, %d sent", report.Bytes, sent.Load())
			}
		})
	}
}

// counted counts the bytes of headers and bodies that a handler sends.
func counted(h http.Handler, sent *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(countingWriter{w, sent}, r)
	})
}

type countingWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (w countingWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w countingWriter) WriteHeader(status int) {
	for _, v := range w.Header() {
		w.sent.Add(int64(len(v[0])))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.sent.Add(int64(n))
	return n, err
}

// The beginning of an overlong robots.txt applies.
func TestLongRobots(t *testing.T) {
	s := newServer(t)
	const cut = "Disallow: /b"
	rules := "User-agent: *\nDisallow: /a\n" + strings.Repeat("Disallow: /x\n", maxRobots/13-3)
	rules += "#" + strings.Repeat("-", maxRobots-len(rules)-len(cut)-2) + "\n" + cut // truncated here
	s.serve("/robots.txt", "text/plain", rules+"-not\nDisallow: /c\n")
	s.set("/", sitetest.Links("a", "b", "c"))
	for _, p := range []string{"/a", "/b", "/c"} {
		s.set(p, p)
	}
	opt := options(t, s.URL)
	report := fetch(t, opt)
	diff(t, "pages", []string{"/", "/b", "/c"}, paths(t, opt))
	diff(t, "skipped", map[string]string{"/a": "disallowed by robots.txt"}, outcomes(s, report.Skipped))
}

func TestPublic(t *testing.T) {
	for s, want := range map[string]bool{
		"8.8.8.8": true, "192.0.1.1": true, "172.32.0.1": true, "100.128.0.1": true, "2606:4700::1111": true,
		"::ffff:8.8.8.8": true, "64:ff9b::808:808": true,
		"127.0.0.1": false, "127.1.2.3": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.100.100.200": false, "0.0.0.0": false, "0.1.2.3": false, "255.255.255.255": false,
		"224.0.0.1": false, "198.18.0.1": false, "::": false, "::1": false, "fe80::1": false, "fd00:ec2::254": false,
		"fec0::1": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "::7f00:1": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(s)); got != want {
			t.Errorf("public(%s) = %t", s, got)
		}
	}
}

func TestGuard(t *testing.T) {
	for _, tt := range []struct {
		host    string
		private bool
		addr    string
		want    bool
	}{
		{"docs.test", false, "8.8.8.8", true},
		{"docs.test", false, "127.0.0.1", false},
		{"docs.test", true, "127.0.0.1", true},
		{"docs.test", true, "10.0.0.1", true},
		{"docs.test", true, "fd12::1", true},
		{"docs.test", true, "169.254.169.254", false},
		{"docs.test", true, "100.100.100.200", false},
		{"docs.test", true, "fd00:ec2::254", false},
		{"127.0.0.1", false, "127.0.0.1", true},
		{"127.0.0.1", false, "127.0.0.2", false},
		{"127.0.0.1", false, "8.8.8.8", false},
		{"::1", false, "::1", true},
		{"10.1.2.3", false, "10.1.2.3", true},
		{"10.1.2.3", true, "10.1.2.4", false},
		{"localhost", false, "::1", true},
		{"localhost", false, "8.8.8.8", false},
		{"docs.localhost", false, "127.0.0.1", true},
		{"localhost.evil.test", false, "127.0.0.1", false},
	} {
		network := Public
		if tt.private {
			network = Private
		}
		start := &url.URL{Scheme: "https", Host: net.JoinHostPort(tt.host, "443")}
		if got := newGuard(start, network).allows(true, netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("%s (private %t) may lead to %s: %t", tt.host, tt.private, tt.addr, got)
		}
	}
}

// nameserver answers each query with the next address, and then repeats the
// last one.
func nameserver(t *testing.T, addrs ...string) *net.Resolver {
	var mu sync.Mutex
	answer := func(query []byte) []byte {
		var m dnsmessage.Message
		if m.Unpack(query) != nil || len(m.Questions) == 0 {
			return nil
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			mu.Lock()
			defer mu.Unlock()
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(addrs[0]).As4()},
			}}
			addrs = addrs[min(1, len(addrs)-1):]
		}
		packed, _ := m.Pack()
		return packed
	}
	// The resolver speaks DNS over TCP on a connection that is no packet connection: each
	// message follows its length.
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			var length [2]byte
			for {
				if _, err := io.ReadFull(server, length[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(length[:]))
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				reply := answer(query)
				if _, err := server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
}

func TestPrivateAddress(t *testing.T) {
	s := newServer(t)
	s.set("/", "x")
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	opt := options(t, "http://docs.test"+port)
	opt.resolver = nameserver(t, "127.0.0.1")
	_, err := Fetch(t.Context(), opt)
	var refused *AddressError
	if !errors.As(err, &refused) || refused.Addr != netip.MustParseAddr("127.0.0.1") || refused.Host != "docs.test" {
		t.Fatalf("error %v", err)
	}
	if asked := s.requests(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
	opt.Private = true
	if report := fetch(t, opt); report.Fetched != 1 {
		t.Errorf("%+v", report)
	}
}

func TestDNSRebinding(t *testing.T) {
	s := newServer(t)
	for _, p := range []string{"/robots.txt", "/", "/a"} {
		s.handle(p, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Content-Type", "text/html")
			if p == "/" {
				io.WriteString(w, sitetest.Links("a"))
			}
		})
	}
	opt := options(t, "http://docs.test"+s.URL[strings.LastIndexByte(s.URL, ':'):])
	opt.Private, opt.Discovery = true, ByLinks
	opt.resolver = nameserver(t, "127.0.0.1", "127.0.0.1", "169.254.169.254")
	report := fetch(t, opt)
	diff(t, "failed", map[string]string{"/a": "docs.test resolves to 169.254.169.254, which is not a public address"}, outcomes(s, report.Failed))
	diff(t, "pages", []string{"/"}, paths(t, opt))
}

// TestGuardOfOtherHosts decides about the hosts that a redirect leads to. inside is set if
// the host of the user's URL has a private address.
func TestGuardOfOtherHosts(t *testing.T) {
	for _, tt := range []struct {
		network Network
		inside  bool
		addr    string
		want    bool
	}{
		{Public, false, "8.8.8.8", true},
		{Public, true, "10.0.0.1", false},
		{Public, true, "127.0.0.1", false},
		{Intranet, false, "8.8.8.8", true},
		{Intranet, false, "10.0.0.1", false},
		{Intranet, true, "10.0.0.1", true},
		{Intranet, true, "fd12::1", true},
		{Intranet, true, "127.0.0.1", false},
		{Intranet, true, "169.254.169.254", false},
		{Intranet, true, "100.100.100.200", false},
		{Private, false, "10.0.0.1", true},
		{Private, false, "127.0.0.1", true},
		{Private, false, "169.254.169.254", false},
	} {
		for _, host := range []string{"docs.test", "127.0.0.1", "10.0.0.9", "localhost"} {
			g := newGuard(&url.URL{Scheme: "https", Host: host}, tt.network)
			g.intranet.Store(tt.inside)
			if got := g.allows(false, netip.MustParseAddr(tt.addr)); got != tt.want {
				t.Errorf("%s (network %d, inside %t) may lead to another host at %s: %t", host, tt.network, tt.inside, tt.addr, got)
			}
		}
	}
	for addr, want := range map[string]bool{"8.8.8.8": true, "10.0.0.1": true, "127.0.0.1": false, "::1": false, "169.254.169.254": false} {
		g := newGuard(&url.URL{Scheme: "https", Host: "docs.test"}, Intranet)
		if got := g.allows(true, netip.MustParseAddr(addr)); got != want {
			t.Errorf("a name may resolve to %s: %t", addr, got)
		}
	}
}

// TestTransport connects to names that change their addresses, and to other ports of the
// user's own.
func TestTransport(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		t.Setenv(name, "")
	}
	s, other := newServer(t), newServer(t)
	s.set("/", "x")
	other.set("/", "x")
	port := func(s *server) string { return s.URL[strings.LastIndexByte(s.URL, ':'):] }
	for _, tt := range []struct {
		name    string
		start   string
		network Network
		request string
		want    string // "": an answer
	}{
		{"the user's URL", s.URL, Intranet, s.URL, ""},
		{"the user's name for this machine", "http://localhost" + port(s), Intranet, "http://LOCALHOST" + port(s), ""},
		{"another port", s.URL, Intranet, other.URL, "127.0.0.1 is not a public address"},
		{"another port of a name", "http://localhost" + port(s), Public, "http://localhost" + port(other), "localhost resolves to 127.0.0.1, which is not a public address"},
		{"another name", s.URL, Intranet, "http://rebound.test" + port(s), "rebound.test resolves to 127.0.0.1, which is not a public address"},
		{"a name that was public", "https://docs.test", Intranet, "http://docs.test" + port(s), "docs.test resolves to 127.0.0.1, which is not a public address"},
		{"the user's name", "http://docs.test" + port(s), Intranet, "http://docs.test" + port(s), "docs.test resolves to 127.0.0.1, which is not a public address"},
		{"the user's name, allowed", "http://docs.test" + port(s), Private, "http://docs.test" + port(s), ""},
	} {
		start, err := url.Parse(tt.start)
		if err != nil {
			t.Fatal(err)
		}
		transport := newTransport(newGuard(start, tt.network), &http.Transport{}, net.Dialer{Resolver: nameserver(t, "127.0.0.1")})
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport}).Get(tt.request)
		if err == nil {
			answer.Body.Close()
		}
		if asked := len(s.requests()) + len(other.requests()); (asked == 0) != (tt.want != "") {
			t.Errorf("%s: %d requests", tt.name, asked)
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
