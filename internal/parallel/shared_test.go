package parallel

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Shared[int]
		calls, release := 0, make(chan struct{})
		work := func(ctx context.Context) (int, error) {
			calls++
			<-release
			return 7, ctx.Err()
		}
		type result struct {
			n   int
			err error
		}
		ask := func(ctx context.Context) <-chan result {
			done := make(chan result, 1)
			go func() {
				n, err := s.Do(ctx, "a", work)
				done <- result{n, err}
			}()
			synctest.Wait()
			return done
		}
		impatient, cancel := context.WithCancel(t.Context())
		gone := ask(impatient)
		waiting := []<-chan result{ask(t.Context()), ask(t.Context())}
		cancel()
		if r := <-gone; !errors.Is(r.err, context.Canceled) {
			t.Errorf("a caller that gives up: %v", r.err)
		}
		if n, err := s.Do(t.Context(), "b", func(context.Context) (int, error) { return 8, nil }); n != 8 || err != nil {
			t.Errorf("another key: %d, %v", n, err)
		}
		close(release)
		for _, done := range waiting {
			if r := <-done; r.n != 7 || r.err != nil {
				t.Errorf("got %d, %v", r.n, r.err)
			}
		}
		if calls != 1 {
			t.Errorf("the work was done %d times", calls)
		}
		if _, err := s.Do(t.Context(), "a", func(context.Context) (int, error) { panic("broken") }); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("after a panic: %v", err)
		}
	})
}
