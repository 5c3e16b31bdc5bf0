package progress

import (
	"context"
	"io"
)

// Interruptible returns a reader of r that fails with the error of ctx after ctx
// has ended. It is for copies and scans that do not check a context.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return interruptible{ctx, r} }

type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
