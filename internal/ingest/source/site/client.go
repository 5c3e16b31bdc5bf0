package site

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxWait is the longest Retry-After that is obeyed. For longer ones the
// request fails.
const maxWait = 2 * time.Minute

const dialTimeout = 10 * time.Second

// A client requests pages of one site at a limited rate.
type client struct {
	http     *http.Client
	pace     *pacer
	agent    string
	login    *login
	timeout  time.Duration
	attempts int
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
	received atomic.Int64 // bytes of bodies
	spent    atomic.Int64 // bytes of bodies and headers, bounded by limit
	limit    atomic.Int64
}

// errSpent is the error of a request beyond the byte limit.
var errSpent = errors.New("download limit reached")

// limitReached reports whether the byte limit is reached.
func (c *client) limitReached() bool { return c.spent.Load() >= c.limit.Load() }

func newClient(opt Options, sc *scope) *client {
	transport := &http.Transport{
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    opt.Concurrency,
		MaxResponseHeaderBytes: 256 << 10,
		IdleConnTimeout:        time.Minute,
		TLSHandshakeTimeout:    10 * time.Second,
	}
	network := Public
	if opt.Private {
		network = Private
	}
	dialer := net.Dialer{Timeout: dialTimeout, Resolver: opt.resolver}
	return &client{
		http: &http.Client{
			Transport:     newTransport(newGuard(sc.start, network), transport, dialer),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		pace:     &pacer{delay: max(0, opt.Delay), now: opt.now, sleep: opt.sleep},
		agent:    opt.UserAgent,
		timeout:  opt.Timeout,
		attempts: opt.Attempts,
		now:      opt.now,
		sleep:    opt.sleep,
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// A request describes a request for one URL.
type request struct {
	url            string
	etag, modified string                          // of the mirrored page, or ""
	limit          int64                           // maximum bytes of the body
	partial        bool                            // accept the beginning of a longer body
	refuse         func(contentType string) string // returns the reason to refuse a content type; may be nil
}

// A response is the answer of the server.
type response struct {
	status         int
	contentType    string
	etag, modified string
	location       string // Location header of a redirect
	body           []byte // of status 200
}

// A failure is the reason for a missing response.
type failure struct {
	reason      string
	unwanted    bool  // a limit of the request
	temporary   bool  // worth a retry
	unreachable bool  // no answer, or an overloaded site
	cause       error // may be nil
	wait        time.Duration
}

func (f *failure) Error() string { return f.reason }
func (f *failure) Unwrap() error { return f.cause }

// get sends a request, with retries. Its error is a *failure, errSpent or that
// of ctx.
func (c *client) get(ctx context.Context, req request) (response, error) {
	for attempt := 1; ; attempt++ {
		if c.limitReached() {
			return response{}, errSpent
		}
		if err := c.pace.wait(ctx); err != nil {
			return response{}, err
		}
		res, err := c.once(ctx, req)
		if err == nil {
			return res, nil
		}
		if ctx.Err() != nil {
			return response{}, ctx.Err()
		}
		var f *failure
		if !errors.As(err, &f) || !f.temporary {
			return response{}, err
		}
		if f.wait > maxWait {
			f.reason += fmt.Sprintf(", Retry-After %v", f.wait)
			return response{}, f
		}
		if attempt >= c.attempts {
			if attempt > 1 {
				f.reason += fmt.Sprintf(", after %d attempts", attempt)
			}
			return response{}, f
		}
		if f.wait > 0 {
			c.pace.delayAll(f.wait)
		} else if err := c.sleep(ctx, backoff(attempt)); err != nil {
			return response{}, err
		}
	}
}

// backoff returns the pause after an attempt: 1 s, 2 s, 4 s and so on, with 50%
// jitter, so that many clients do not retry at the same time.
func backoff(attempt int) time.Duration {
	d := min(time.Second<<min(attempt-1, 10), 30*time.Second)
	return d/2 + rand.N(d)
}

func (c *client) once(ctx context.Context, req request) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, req.url, nil)
	if err != nil {
		return response{}, &failure{reason: err.Error()}
	}
	names, values := c.login.headersFor(r.URL)
	for i, name := range names {
		r.Header.Set(name, values[i])
	}
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.5")
	if req.etag != "" {
		r.Header.Set("If-None-Match", req.etag)
	}
	if req.modified != "" {
		r.Header.Set("If-Modified-Since", req.modified)
	}
	h, err := c.http.Do(r)
	if err != nil {
		return response{}, c.unanswered(err)
	}
	defer h.Body.Close()
	for key, values := range h.Header {
		for _, v := range values {
			c.spent.Add(int64(len(key) + len(v)))
		}
	}
	res := response{
		status:      h.StatusCode,
		contentType: c.login.redactString(dropLong(h.Header.Get("Content-Type"))),
		etag:        c.login.redactString(dropLong(h.Header.Get("ETag"))),
		modified:    dropLong(h.Header.Get("Last-Modified")),
	}
	switch {
	case res.status == http.StatusOK:
		res.body, err = c.read(h, req)
		res.body = c.login.redact(res.body)
		return res, err
	case res.status == http.StatusNotModified:
		if req.etag == "" && req.modified == "" {
			return response{}, &failure{reason: "unexpected 304 Not Modified"}
		}
		return res, nil
	case res.status >= 300 && res.status < 400 && h.Header.Get("Location") != "":
		res.location = c.login.redactString(h.Header.Get("Location"))
		return res, nil
	case res.status == http.StatusTooManyRequests || res.status == http.StatusServiceUnavailable:
		return response{}, &failure{reason: status(res.status), temporary: true, unreachable: true, wait: c.retryAfter(h.Header.Get("Retry-After"))}
	case res.status >= 500 || res.status == http.StatusRequestTimeout:
		return response{}, &failure{reason: status(res.status), temporary: true}
	}
	return res, nil
}

// read reads a body within its limits.
func (c *client) read(h *http.Response, req request) ([]byte, error) {
	if e := h.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, &failure{reason: "compressed as " + dropLong(e) + ", which was not requested"}
	}
	if req.refuse != nil {
		if why := req.refuse(h.Header.Get("Content-Type")); why != "" {
			return nil, &failure{reason: why, unwanted: true}
		}
	}
	if h.ContentLength > req.limit && !req.partial {
		return nil, &failure{reason: fmt.Sprintf("%s, over the limit of %s", size(h.ContentLength), size(req.limit)), unwanted: true}
	}
	body, err := io.ReadAll(io.LimitReader(budgetReader{c, h.Body}, req.limit+1))
	switch {
	case errors.Is(err, errSpent):
		if req.partial {
			return body, nil
		}
		return nil, errSpent
	case errors.Is(err, context.DeadlineExceeded):
		// The server sends too slowly; a retry would not help.
		return nil, &failure{reason: fmt.Sprintf("timeout after %v", c.timeout), unreachable: true, cause: err}
	case err != nil:
		return nil, &failure{reason: "incomplete: " + err.Error(), temporary: true, cause: err}
	case int64(len(body)) > req.limit && req.partial:
		return body[:req.limit], nil
	case int64(len(body)) > req.limit:
		return nil, &failure{reason: fmt.Sprintf("larger than the limit of %s", size(req.limit)), unwanted: true}
	}
	return body, nil
}

// A budgetReader reads a body against the byte limit that all bodies share.
type budgetReader struct {
	c *client
	r io.Reader
}

func (s budgetReader) Read(p []byte) (int, error) {
	if s.c.limitReached() {
		return 0, errSpent
	}
	n, err := s.r.Read(p)
	s.c.received.Add(int64(n))
	s.c.spent.Add(int64(n))
	return n, err
}

// unanswered returns the failure of a request without an answer.
func (c *client) unanswered(err error) error {
	f := &failure{cause: err, unreachable: true, temporary: true}
	var inner interface{ Unwrap() error }
	if errors.As(err, &inner) {
		f.reason = inner.Unwrap().Error() // without the URL, which precedes the message
	}
	var (
		dns     *net.DNSError
		address *AddressError
		cert    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &address):
		f.reason, f.temporary = address.Error(), false
	case errors.As(err, &dns):
		f.reason, f.temporary = dns.Error(), !dns.IsNotFound
	case errors.As(err, &cert):
		f.temporary = false
	case errors.Is(err, context.DeadlineExceeded):
		f.reason = "timeout"
	}
	return f
}

// retryAfter parses a Retry-After header: seconds or a date.
func (c *client) retryAfter(s string) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(c.now()))
	}
	return 0
}

func status(code int) string {
	return fmt.Sprintf("%d %s", code, cmp.Or(http.StatusText(code), "(unknown status)"))
}

// dropLong drops values that are too long for a legitimate header.
func dropLong(s string) string {
	if len(s) > 500 {
		return ""
	}
	return s
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", (n+1<<10-1)>>10)
	}
	return fmt.Sprintf("%d MB", (n+1<<20-1)>>20)
}

// A pacer enforces the delay between requests.
type pacer struct {
	delay time.Duration
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu   sync.Mutex
	next time.Time // earliest start of the next request
}

// wait blocks until the next request may start.
func (p *pacer) wait(ctx context.Context) error {
	p.mu.Lock()
	now := p.now()
	at := now
	if p.next.After(now) {
		at = p.next
	}
	p.next = at.Add(p.delay)
	p.mu.Unlock()
	return p.sleep(ctx, at.Sub(now))
}

// delayAll delays all requests by at least d.
func (p *pacer) delayAll(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.now().Add(d); at.After(p.next) {
		p.next = at
	}
}
