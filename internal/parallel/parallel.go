// Package parallel spreads loops over the processors.
package parallel

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Ranges calls f for 0 to n in pieces of the given length, as many at a time as
// there are processors, until one fails. It returns the first error, or the
// context's.
func Ranges(ctx context.Context, n, piece int, f func(from, to int) error) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n && running.Err() == nil; from += piece {
		g.Go(func() error {
			if running.Err() != nil {
				return nil
			}
			return f(from, min(from+piece, n))
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}
