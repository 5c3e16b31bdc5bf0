package mcpserver

import (
	"context"
	"errors"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
)

// While a database is opened, which blocks here, other databases answer, a request for it
// waits only as long as it wants, and the server can stop.
func TestSlowOpen(t *testing.T) {
	slow, other := t.TempDir(), t.TempDir()
	build(t, slow, shipPages()...)
	build(t, other, shipPages()...)
	c := &Catalog{AnyPath: true, Entries: func(context.Context) []Entry { return nil }}
	defer c.Close()
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.opening.Do(t.Context(), slow, func(context.Context) (struct{}, error) {
			close(began)
			<-release
			return struct{}{}, c.open(slow)
		})
	}()
	<-began
	passages := func(ctx context.Context, path string) (n int, err error) {
		err = c.use(ctx, path, func(db *index.Database) error {
			n = db.Info().Passages
			return nil
		})
		return n, err
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := passages(gone, slow); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that has ended: %v", err)
	}
	c.tidy(nil)
	if n, err := passages(t.Context(), other); n == 0 || err != nil {
		t.Errorf("another database: %d passages, %v", n, err)
	}
	c.Close()
	close(release)
	<-ended
	if _, err := passages(t.Context(), slow); !errors.Is(err, errClosed) || len(c.indexes) != 0 {
		t.Errorf("after the end: %v, %d open databases", err, len(c.indexes))
	}
}
