package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Check returns an error if Fetch would reject the URL or the prefix of a site
// before it downloads anything.
func Check(url, prefix string) error {
	_, err := newScope(url, prefix)
	return err
}

// Download returns the file at a URL, of at most limit bytes. The same rules
// for addresses, retries and timeouts apply as for the pages of a site. It does
// not follow redirects, which might lead to another host.
func Download(ctx context.Context, url string, limit int64) ([]byte, error) {
	sc, err := newScope(url, "")
	if err != nil {
		return nil, err
	}
	c := newClient(withDefaults(Options{URL: url, Delay: -1, Attempts: 1}, sc), sc)
	defer c.close()
	c.limit.Store(DefaultMaxPage)
	res, err := c.get(ctx, request{url: sc.start.String(), limit: limit})
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot download %s: %w", url, err)
	case res.location != "":
		return nil, fmt.Errorf("cannot download %s: it redirects to %s", url, res.location)
	case res.status != http.StatusOK:
		return nil, fmt.Errorf("cannot download %s: %s", url, status(res.status))
	}
	return res.body, nil
}

// SaveOptions configure a Save.
type SaveOptions struct {
	Limit   int64 // maximum size in bytes
	Private bool  // allow private addresses, as for a site
	// Report receives the number of received bytes.
	Report func(bytes int64)
}

// Save writes the file at a URL to w. It follows a few redirects, as downloads of
// releases need, but none from https to http. The addresses of all hosts follow
// the rules for a site at the URL. A server may pause for at most the timeout of
// a page.
func Save(ctx context.Context, location string, w io.Writer, opt SaveOptions) error {
	const hops = 5
	sc, err := newScope(location, "")
	if err != nil {
		return err
	}
	options := withDefaults(Options{URL: location, Private: opt.Private}, sc)
	c := newClient(options, sc)
	defer c.close()
	u := sc.start
	for range hops {
		next, err := c.save(ctx, u, w, opt, options.Timeout)
		if err != nil {
			return fmt.Errorf("cannot download %s: %w", u, err)
		}
		if next == nil {
			return nil
		}
		u = next
	}
	return fmt.Errorf("cannot download %s: more than %d redirects", location, hops)
}

// save writes the file at u to w, or returns the URL to which u redirects.
func (c *client) save(ctx context.Context, u *url.URL, w io.Writer, opt SaveOptions,
	pause time.Duration) (next *url.URL, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(pause, func() { cancel(fmt.Errorf("timeout after %v without data", pause)) })
	defer stalled.Stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("Accept-Encoding", "identity") // the size on the wire is that of the file
	h, err := c.http.Do(r)
	if err != nil {
		return nil, causeOf(ctx, c.unanswered(err))
	}
	defer h.Body.Close()
	switch to := h.Header.Get("Location"); {
	case h.StatusCode >= 300 && h.StatusCode < 400 && to != "":
		return redirect(u, to)
	case h.StatusCode != http.StatusOK:
		return nil, errors.New(status(h.StatusCode))
	case h.ContentLength > opt.Limit:
		return nil, fmt.Errorf("%s, over the limit of %s", size(h.ContentLength), size(opt.Limit))
	}
	body := &watchedReader{r: h.Body, read: func(n int64) {
		stalled.Reset(pause)
		if opt.Report != nil {
			opt.Report(n)
		}
	}}
	n, err := io.Copy(w, io.LimitReader(body, opt.Limit+1))
	switch {
	case err != nil:
		return nil, causeOf(ctx, err)
	case n > opt.Limit:
		return nil, fmt.Errorf("larger than the limit of %s", size(opt.Limit))
	}
	return nil, nil
}

// causeOf returns the reason for which ctx ended, or err if it has not.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// redirect returns the URL to which u redirects.
func redirect(u *url.URL, to string) (*url.URL, error) {
	next, err := u.Parse(to)
	if err != nil {
		return nil, err
	}
	normal, ok := normalize(next)
	if !ok || u.Scheme == "https" && normal.Scheme != "https" {
		return nil, fmt.Errorf("it redirects to %s", next.Redacted())
	}
	return normal, nil
}

// A watchedReader reports the bytes read so far after each read.
type watchedReader struct {
	r    io.Reader
	n    int64
	read func(n int64)
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	w.read(w.n)
	return n, err
}
