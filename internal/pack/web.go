package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/loopback"
)

// headBytes is the length of the first request for a file: usually all of the manifest
// and the signatures.
const headBytes = 8 << 10

// stallTimeout ends a connection that delivers nothing.
const stallTimeout = 30 * time.Second

// A StatusError is the answer of a server that refuses a request.
type StatusError struct {
	URL    string
	Status int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("cannot download %s: HTTP status %d %s", e.URL, e.Status,
		strings.ToLower(http.StatusText(e.Status)))
}

// permanent reports whether a repeated request would fail, too.
func (e *StatusError) permanent() bool {
	return e.Status < 500 && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout
}

// A webOrigin is a pack file on a server.
type webOrigin struct {
	url    string
	client *http.Client
	offsets
	start []byte // of the file
}

// OpenURL opens the pack or catalog file at an https URL, or an http URL of this machine.
func OpenURL(location string) (Origin, error) {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("invalid URL %q", location)
	}
	if !loopback.IsSafe(u) {
		return nil, fmt.Errorf("invalid URL %q: want https", location)
	}
	return &webOrigin{url: location, client: NewClient(u)}, nil
}

// NewClient returns a client for the pack or registry at the user's URL. It follows
// redirects over https, but not to this machine. They lead to a private network only if
// the URL does, too.
func NewClient(start *url.URL) *http.Client {
	return &http.Client{
		Transport: site.NewTransport(start, site.Intranet, &http.Transport{
			ResponseHeaderTimeout: stallTimeout, TLSHandshakeTimeout: stallTimeout, IdleConnTimeout: time.Minute,
			DisableCompression: true, ForceAttemptHTTP2: true,
		}),
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) > 5:
				return errors.New("too many redirects")
			case r.URL.User != nil || !loopback.IsSafe(r.URL):
				return fmt.Errorf("it redirects to %s: want https", r.URL.Redacted())
			}
			return nil
		},
	}
}

// get requests a range of the file. start is the offset of the first byte of the body.
func (o *webOrigin) get(ctx context.Context, from, length int64) (body io.ReadCloser, start int64, err error) {
	return GetRange(ctx, o.client.Do, o.url, from, length)
}

// GetRange requests a range of the file at a URL. start is the offset of the first byte of
// the body: the answer may be the whole file.
func GetRange(ctx context.Context, do func(*http.Request) (*http.Response, error), location string,
	from, length int64) (body io.ReadCloser, start int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		if err != nil {
			cancel(nil)
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+length-1))
	answer, err := do(r)
	if err != nil {
		return nil, 0, err
	}
	if start, err = rangeStart(answer, from); err != nil {
		answer.Body.Close()
		return nil, 0, err
	}
	return guardStall(answer.Body, cancel), start, nil
}

// rangeStart returns the offset of the first byte of the answer to a request for a range
// that starts at from: the answer may be the whole file.
func rangeStart(answer *http.Response, from int64) (int64, error) {
	switch answer.StatusCode {
	case http.StatusOK:
		return 0, nil
	case http.StatusPartialContent:
		var start int64
		if _, err := fmt.Sscanf(answer.Header.Get("Content-Range"), "bytes %d-", &start); err != nil || start != from {
			return 0, fmt.Errorf("%s answers with another range than requested", answer.Request.URL.Host)
		}
		return start, nil
	}
	return 0, &StatusError{answer.Request.URL.Redacted(), answer.StatusCode}
}

// guardStall returns a reader of body that calls cancel if a read takes too long, and
// when it is closed.
func guardStall(body io.ReadCloser, cancel context.CancelCauseFunc) io.ReadCloser {
	return &guarded{body, cancel, time.AfterFunc(stallTimeout, func() {
		cancel(fmt.Errorf("the server sent nothing for %s", stallTimeout))
	})}
}

type guarded struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (g *guarded) Read(b []byte) (int, error) {
	g.timer.Reset(stallTimeout)
	return g.ReadCloser.Read(b)
}

func (g *guarded) Close() error {
	g.timer.Stop()
	g.cancel(nil)
	return g.ReadCloser.Close()
}

func (o *webOrigin) Head(ctx context.Context) (manifest, signatures []byte, err error) {
	if o.start, err = o.read(ctx, 0, headBytes, true); err != nil {
		return nil, nil, err
	}
	if o.offsets, err = parseHeader(o.start); err != nil {
		return nil, nil, err
	}
	if err := o.need(ctx, o.table); err != nil {
		return nil, nil, err
	}
	return o.start[o.manifest:o.signatures], o.start[o.signatures:o.table], nil
}

func (o *webOrigin) Table(ctx context.Context, size int64) ([]byte, error) {
	if size != o.data-o.table {
		return nil, invalid("chunk table", "%d bytes, the manifest says %d", o.data-o.table, size)
	}
	if err := o.need(ctx, o.data); err != nil {
		return nil, err
	}
	return o.start[o.table:o.data], nil
}

// need reads the file up to offset end.
func (o *webOrigin) need(ctx context.Context, end int64) error {
	have := int64(len(o.start))
	if have >= end {
		return nil
	}
	more, err := o.read(ctx, have, end-have, false)
	o.start = append(o.start, more...)
	return err
}

// read reads a range of the file. With short set, the file may be shorter.
func (o *webOrigin) read(ctx context.Context, from, length int64, short bool) (data []byte, err error) {
	err = retry(ctx, func() (bool, error) {
		body, start, err := o.get(ctx, from, length)
		if err != nil {
			return false, err
		}
		defer body.Close()
		if _, err := io.CopyN(io.Discard, body, from-start); err != nil {
			return false, err
		}
		data, err = io.ReadAll(io.LimitReader(body, length))
		if err == nil && int64(len(data)) < length && !short {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	})
	return data, err
}

func (o *webOrigin) Data(ctx context.Context, offset, length int64) (io.ReadCloser, int64, error) {
	body, start, err := o.get(ctx, o.data+offset, length)
	if err != nil || start != 0 {
		return body, start - o.data, err
	}
	// The whole file.
	if _, err := io.CopyN(io.Discard, body, o.data); err != nil {
		body.Close()
		return nil, 0, err
	}
	return body, 0, nil
}

func (o *webOrigin) Close() error {
	o.client.CloseIdleConnections()
	return nil
}

// retry calls f until it succeeds, up to five times without progress.
func retry(ctx context.Context, f func() (progress bool, err error)) error {
	const attempts = 5
	for failed := 0; ; failed++ {
		progress, err := f()
		var refused *StatusError
		var wrong *InvalidError
		var address *site.AddressError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &refused) && refused.permanent(), errors.As(err, &wrong), errors.As(err, &address):
			return err
		}
		if progress {
			failed = 0
		}
		if failed+1 >= attempts {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond << failed):
		}
	}
}
