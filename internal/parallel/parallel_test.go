package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestRanges(t *testing.T) {
	for _, tt := range []struct{ n, piece int }{{0, 3}, {1, 3}, {3, 3}, {10, 3}, {1000, 1}} {
		seen := make([]atomic.Int32, tt.n)
		err := Ranges(t.Context(), tt.n, tt.piece, func(from, to int) error {
			if to-from > tt.piece || from%tt.piece != 0 {
				t.Errorf("%d in pieces of %d: %d to %d", tt.n, tt.piece, from, to)
			}
			for i := from; i < to; i++ {
				seen[i].Add(1)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for i := range seen {
			if n := seen[i].Load(); n != 1 {
				t.Errorf("%d in pieces of %d: %d was visited %d times", tt.n, tt.piece, i, n)
			}
		}
	}
}

func TestRangesStop(t *testing.T) {
	failure := errors.New("failure")
	var calls atomic.Int32
	err := Ranges(t.Context(), 1e6, 1, func(int, int) error {
		calls.Add(1)
		return failure
	})
	if !errors.Is(err, failure) || calls.Load() > 1000 {
		t.Errorf("%v after %d calls, want the first failure", err, calls.Load())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(failure)
	err = Ranges(ctx, 10, 1, func(int, int) error {
		t.Error("called although the context is done")
		return nil
	})
	if !errors.Is(err, failure) {
		t.Errorf("%v, want the context's cause", err)
	}
}
