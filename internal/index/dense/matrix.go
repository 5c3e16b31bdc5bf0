package dense

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// A matrix is dense, row by row.
type matrix struct {
	rows, cols int
	data       []float32
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]float32, rows*cols)} }

func (m matrix) row(i int) []float32 { return m.data[i*m.cols : (i+1)*m.cols] }

// parallel calls f for 0 to n in pieces of the given length from as many
// goroutines as there are processors, until one fails.
func parallel(ctx context.Context, n, piece int, f func(from, to int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+piece-1)/piece) {
		wg.Go(func() {
			for ctx.Err() == nil {
				to := int(next.Add(int64(piece)))
				from := to - piece
				if from >= n {
					return
				}
				if err := f(from, min(to, n)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
