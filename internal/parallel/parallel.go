// Package parallel runs loops in parallel.
package parallel

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Ranges calls f for consecutive ranges of [0, n) with at most size elements each. It
// runs up to GOMAXPROCS calls in parallel, until one fails. It returns the first error,
// or the context's.
func Ranges(ctx context.Context, n, size int, f func(from, to int) error) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n && running.Err() == nil; from += size {
		g.Go(func() error {
			if running.Err() != nil {
				return nil
			}
			return f(from, min(from+size, n))
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}
