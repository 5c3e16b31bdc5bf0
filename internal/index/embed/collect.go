package embed

import (
	"context"
	"fmt"

	"github.com/docsearch/docsearch/internal/progress"
)

// Vectors are the vectors of all passages, from a provider.
type Vectors struct{ m matrix }

// Collect embeds n passages, whose texts text returns, in order. It passes a few
// hundred texts at once to the provider, so after a failure a cache has the
// vectors of earlier calls. The provider splits them into requests.
func Collect(ctx context.Context, p Provider, n int, text func(i int) (string, error),
	report progress.Func) (*Vectors, error) {
	const (
		stage = "embedding passages"
		batch = 256
	)
	v := &Vectors{}
	report.Report(stage, 0, int64(n))
	for from := 0; from < n; from += batch {
		texts := make([]string, min(batch, n-from))
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
				return nil, fmt.Errorf("%s returned a vector with %d dimensions, want %d: the model may have changed",
					p.ID(), len(u), v.m.cols)
			}
			copy(v.m.row(from+i), u)
		}
		report.Report(stage, int64(from+len(texts)), int64(n))
	}
	return v, nil
}

// Len returns the number of vectors.
func (v *Vectors) Len() int { return v.m.rows }

// Dimensions returns the dimensionality of the vectors.
func (v *Vectors) Dimensions() int { return v.m.cols }

// Vector writes the vector of passage i to u.
func (v *Vectors) Vector(i int, u []float32) error {
	copy(u, v.m.row(i))
	return nil
}
