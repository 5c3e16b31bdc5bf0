package parallel

import (
	"context"
	"fmt"

	"golang.org/x/sync/singleflight"
)

// A Shared does work once for all callers that need its result at the same time, without
// a lock that they would queue for. The zero value is ready for use.
type Shared[T any] struct{ group singleflight.Group }

// Do returns the result of work. If work for the same key is running, Do waits for its
// result instead. ctx limits the wait only: the work gets a context that no caller ends,
// and continues for the others. If it panics, Do returns an error.
func (s *Shared[T]) Do(ctx context.Context, key string, work func(context.Context) (T, error)) (T, error) {
	done := s.group.DoChan(key, func() (value any, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("internal error: %v", v)
			}
		}()
		return work(context.WithoutCancel(ctx))
	})
	var none T
	select {
	case r := <-done:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(T), nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
