package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxResponse is the maximum size of a response in bytes, after decompression, and
	// maxAnswer that of a response to a hook, which has little time.
	maxResponse = 8 << 20
	maxAnswer   = 1 << 20
	// requestTimeout limits a request whose caller has no deadline.
	requestTimeout = 10 * time.Second
	// tokenTime is how long a client uses a token before it reads it again.
	tokenTime = time.Minute
)

// A RefusedError reports that the server answered, but refuses the request.
type RefusedError struct {
	URL    string
	Status int
	Text   string // from the server, one line
}

func (e *RefusedError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized:
		return e.URL + " does not accept the token"
	case http.StatusForbidden:
		return e.URL + ": the token does not permit this"
	}
	return fmt.Sprintf("%s: status %d: %s", e.URL, e.Status, e.Text)
}

// A TokenError reports that the token for a server cannot be read.
type TokenError struct {
	URL string
	Err error
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("cannot read the token for %s: %v", e.URL, e.Err)
}
func (e *TokenError) Unwrap() error { return e.Err }

// A Client sends requests to one server over kept-alive connections. It is a
// mcpserver.Remote.
type Client struct {
	server config.Remote
	http   *http.Client

	mu     sync.Mutex
	token  string
	readAt time.Time // of token
}

// NewClient returns a client. It connects at the first request.
func NewClient(server config.Remote) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 8
	return &Client{server: server, http: &http.Client{
		Timeout: requestTimeout, Transport: transport,
		// A redirect could send the query to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Host returns the host of the server.
func (c *Client) Host() string { return config.Host(c.server.URL) }

// do sends a request and returns the body of a response with status 200.
func (c *Client) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	token, err := c.currentToken(ctx)
	if err != nil {
		return nil, &TokenError{c.server.URL, err}
	}
	data, err := exchange(ctx, c.http, method, c.server.URL, path, body, func(h http.Header) {
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
	})
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Status == http.StatusUnauthorized {
		c.forgetToken() // it may have been replaced
	}
	return data, err
}

// exchange sends a request to a server, directly or through the relay.
func exchange(ctx context.Context, client *http.Client, method, url, path string, body []byte,
	header func(http.Header)) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "docsearch")
	header(r.Header)
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	limit := maxResponse
	if path == AnswerPath {
		limit = maxAnswer
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > limit:
		return nil, fmt.Errorf("%s: the response is larger than %d MiB", url, limit>>20)
	case res.StatusCode != http.StatusOK:
		text, _, _ := strings.Cut(string(data), "\n")
		return nil, &RefusedError{url, res.StatusCode, safetext.Line(text[:min(len(text), 200)])}
	}
	return data, nil
}

// post sends a JSON request and decodes the response.
func post[T any](ctx context.Context, c *Client, path string, request any) (response T, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return response, err
	}
	data, err := c.do(ctx, http.MethodPost, path, body)
	if err != nil {
		return response, err
	}
	return decode[T](data)
}

// Answer sends the body of a hook's request and returns that of the response.
func (c *Client) Answer(ctx context.Context, body []byte) ([]byte, error) {
	return c.do(ctx, http.MethodPost, AnswerPath, body)
}

// Databases returns the databases that the token may read, and the server's version.
func (c *Client) Databases(ctx context.Context) (Databases, error) {
	data, err := c.do(ctx, http.MethodGet, DatabasesPath, nil)
	if err != nil {
		return Databases{}, err
	}
	return decodeCatalog(data)
}

// Search searches databases of the server.
func (c *Client) Search(ctx context.Context, databases []mcpserver.RemoteDatabase,
	q index.Query) (map[string]mcpserver.RemoteResult, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	request := SearchRequest{Query: q.Text, Keywords: q.Keywords, TopK: min(q.TopK, MaxTopK), Filter: q.Filter}
	for _, d := range databases {
		request.Databases = append(request.Databases, d.Name)
		request.Used.put(d.Name, d.Used)
	}
	response, err := post[Results](ctx, c, SearchPath, request)
	if err != nil {
		return nil, err
	}
	found := make(map[string]mcpserver.RemoteResult, len(databases))
	for _, name := range request.Databases {
		r, ok := response.Databases[name]
		switch {
		case !ok:
			found[name] = mcpserver.RemoteResult{Err: errMissing}
		case r.Error != "":
			found[name] = mcpserver.RemoteResult{Err: errors.New(reported(r.Error))}
		default:
			found[name] = mcpserver.RemoteResult{Result: r.result()}
		}
	}
	return found, nil
}

// Read reads a document from the databases of the server that contain it.
func (c *Client) Read(ctx context.Context, databases []string,
	ref index.Ref) (map[string]mcpserver.RemoteReading, error) {
	response, err := post[Readings](ctx, c, ReadPath,
		ReadRequest{Databases: databases, Name: ref.Name, Neighbors: ref.Neighbors, Whole: ref.Whole})
	if err != nil {
		return nil, err
	}
	found := make(map[string]mcpserver.RemoteReading, len(databases))
	for _, name := range databases {
		r, ok := response.Databases[name]
		reading, usable := r.reading()
		switch {
		case !ok:
			found[name] = mcpserver.RemoteReading{Err: errMissing}
		case r.NotFound:
			found[name] = mcpserver.RemoteReading{Err: index.ErrNotFound}
		case r.Error != "":
			found[name] = mcpserver.RemoteReading{Err: errors.New(reported(r.Error))}
		case !usable:
			found[name] = mcpserver.RemoteReading{Err: errors.New("the server sent an invalid document")}
		default:
			found[name] = mcpserver.RemoteReading{Reading: reading}
		}
	}
	return found, nil
}

var errMissing = errors.New("the server no longer has it")
