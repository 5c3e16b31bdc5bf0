package embed

import (
	"context"
	"fmt"

	"github.com/docsearch/docsearch/internal/progress"
)

// Vectors are a provider's vectors of all passages.
type Vectors struct{ m matrix }

// Collect asks the provider for the vectors of n passages, whose texts come
// from text, in order. It calls the provider with some hundred texts at once,
// so that a cache has kept what came before a failure;
// to send them as its server likes them is the provider's part.
func Collect(ctx context.Context, p Provider, n int, text func(i int) (string, error), report progress.Func) (*Vectors, error) {
	const (
		stage = "embedding passages"
		piece = 256
	)
	v := &Vectors{}
	report.Report(stage, 0, int64(n))
	for from := 0; from < n; from += piece {
		texts := make([]string, min(piece, n-from))
		for i := range texts {
			var err error
			if texts[i], err = text(from + i); err != nil {
				return nil, err
			}
		}
		got, err := p.Embed(ctx, Document, texts)
		if err != nil {
			return nil, err
		}
		if len(got) != len(texts) {
			return nil, fmt.Errorf("%s returned %d vectors for %d texts", p.ID(), len(got), len(texts))
		}
		for i, u := range got {
			if v.m.data == nil {
				v.m = newMatrix(n, len(u))
			}
			if len(u) != v.m.cols {
				return nil, fmt.Errorf("%s returned a vector with %d dimensions, want %d: the model may have changed", p.ID(), len(u), v.m.cols)
			}
			copy(v.m.row(from+i), u)
		}
		report.Report(stage, int64(from+len(texts)), int64(n))
	}
	return v, nil
}

// Len is the number of vectors, Dimensions that of a vector's numbers.
func (v *Vectors) Len() int        { return v.m.rows }
func (v *Vectors) Dimensions() int { return v.m.cols }

// Vector puts the vector of passage i into u.
func (v *Vectors) Vector(i int, u []float32) error {
	copy(u, v.m.row(i))
	return nil
}
