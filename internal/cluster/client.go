package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxAnswer is the maximum size of a response in bytes, after decompression. 200
	// passages with their records have about half a megabyte.
	maxAnswer = 64 << 20
	// defaultTimeout limits a request to one node.
	defaultTimeout = 5 * time.Second
)

// Options are the address of a cluster and the access to it.
type Options struct {
	// URLs are the addresses of nodes, such as "https://w1:8080".
	URLs []string
	// KeyVariable is the name of the environment variable with the API key. Empty: the
	// cluster needs none.
	KeyVariable string
	// PlainHTTP permits http for hosts other than this machine.
	PlainHTTP bool
	// Timeout limits a request to one node. If it passes, the client asks the next node.
	// Default 5 seconds.
	Timeout time.Duration
	// Hedge is the time after which a request that only reads is sent to the next node,
	// too. The first answer counts. 0: the next node is asked after the timeout. It is for
	// clients that only read.
	Hedge time.Duration
	// Cache is the folder where the statistics of databases are kept for the next process.
	// Empty: they are always downloaded.
	Cache string
}

// ErrUnavailable is wrapped by errors of requests that no node answered properly.
var ErrUnavailable = errors.New("no node of the cluster answered")

// A RefusedError reports that the cluster answered, but refuses the request.
type RefusedError struct {
	URL    string
	Status int
	Text   string // from the node, one line
}

func (e *RefusedError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized:
		return e.URL + " does not accept the API key"
	case http.StatusForbidden:
		return e.URL + ": the API key does not permit this: " + e.Text
	}
	return fmt.Sprintf("%s: status %d: %s", e.URL, e.Status, e.Text)
}

// maybeRestarted reports that another node may accept the request: a node answers before
// it has loaded the schema and the tenants.
func (e *RefusedError) maybeRestarted() bool {
	return e.Status == http.StatusForbidden || e.Status == http.StatusNotFound ||
		e.Status == http.StatusUnprocessableEntity
}

// A nodeError is a failure of one node. Another node may answer.
type nodeError struct {
	url string
	err error
}

func (e *nodeError) Error() string { return e.url + ": " + e.err.Error() }
func (e *nodeError) Unwrap() error { return e.err }

// A Client sends requests to the nodes of a cluster. It may be used concurrently.
type Client struct {
	nodes   []*node
	key     string
	timeout time.Duration
	hedge   time.Duration
	cache   string // folder; empty: none
	http    *http.Client
	next    atomic.Uint32
	hedges  hedgeBudget
}

// NewClient returns a client. It connects at the first request. The error describes an
// option that cannot be used.
func NewClient(o Options) (*Client, error) {
	c := &Client{timeout: o.Timeout, hedge: o.Hedge, cache: o.Cache}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if len(o.URLs) == 0 {
		return nil, errors.New("the cluster has no URL")
	}
	for _, u := range o.URLs {
		clean, err := checkURL(u, o.PlainHTTP)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, &node{url: clean})
	}
	if o.KeyVariable != "" {
		if c.key = os.Getenv(o.KeyVariable); c.key == "" {
			return nil, fmt.Errorf("the environment variable %s with the API key is not set", o.KeyVariable)
		}
		if strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("the environment variable %s is not an API key", o.KeyVariable)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	c.http = &http.Client{
		Transport: transport,
		// A redirect could send the key and the query to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// checkURL returns the URL of a node without a slash at its end.
func checkURL(text string, plainHTTP bool) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("invalid URL %q: want https://HOST:PORT", text)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("invalid URL of a node: want https://HOST:PORT without a user, query or fragment")
	case !plainHTTP && !loopback.IsSafe(u):
		return "", fmt.Errorf("invalid URL %q: want https, because the host is not this machine", text)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URLs returns the addresses of the nodes.
func (c *Client) URLs() []string {
	var urls []string
	for _, n := range c.nodes {
		urls = append(urls, n.url)
	}
	return urls
}

// only returns a client that asks one node.
func (c *Client) only(n *node) *Client {
	return &Client{nodes: []*node{n}, key: c.key, timeout: c.timeout, http: c.http}
}

// withTimeout returns a client with another timeout of requests.
func (c *Client) withTimeout(d time.Duration) *Client {
	return &Client{nodes: c.nodes, key: c.key, timeout: d, hedge: c.hedge, http: c.http}
}

// ask sends a request to one node and returns the body of an answer with status 2xx.
func (c *Client) ask(ctx context.Context, n *node, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	fail := func(err error) ([]byte, error) {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", c.timeout)
		}
		return nil, &nodeError{n.url, err}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, n.url+r.path, bytes.NewReader(r.body))
	if err != nil {
		return fail(err)
	}
	req.Header.Set("User-Agent", "docsearch")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL, which nodeError has
		}
		return fail(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fail(err)
	case len(data) > maxAnswer:
		return fail(fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20))
	}
	return data, checkStatus(n.url, res.StatusCode, data)
}

// checkStatus returns an error for an answer that is not a success: a *RefusedError if
// every node would answer so, otherwise a *nodeError.
func checkStatus(url string, status int, body []byte) error {
	if 200 <= status && status < 300 {
		return nil
	}
	refused := &RefusedError{url, status, message(body)}
	switch {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return &nodeError{url, fmt.Errorf("status %d: %s", status, refused.Text)}
	case status < 400:
		return &nodeError{url, fmt.Errorf("status %d: redirects are refused", status)}
	case status == http.StatusUnprocessableEntity && strings.Contains(refused.Text, "leader"):
		return &nodeError{url, errors.New(refused.Text)} // the nodes are electing one
	}
	return refused
}

// message returns the error message in the body of an answer, as one line.
func message(body []byte) string {
	text := string(body)
	if m := errorMessage(body); m != "" {
		text = m
	}
	if len(text) > 300 {
		text = text[:300] + " …"
	}
	return safetext.Line(text)
}

// persist sends a request again until a node answers it or the time is over. Only
// requests whose repetition changes nothing may be sent so.
func (c *Client) persist(ctx context.Context, timeout time.Duration, r request) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last error
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := c.do(ctx, r)
		if err == nil || !errors.Is(err, ErrUnavailable) && ctx.Err() == nil {
			return err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return last
		}
	}
}
