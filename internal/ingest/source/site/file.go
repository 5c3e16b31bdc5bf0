package site

import (
	"context"
	"fmt"
	"net/http"
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
