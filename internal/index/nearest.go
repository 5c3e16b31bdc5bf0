package index

import (
	"context"

	"github.com/docsearch/docsearch/internal/index/dense"
)

// Neighbors are documents whose vectors are near that of a text.
type Neighbors struct {
	Generation string // of the database
	// Similarities are those of the documents' nearest passages, from 0 to 1.
	Similarities map[uint32]float64
}

// minCosine is the cosine of the built-in vectors from which texts are similar.
const minCosine = .5

// Nearest returns the documents of the passages that are nearest to a text, at most limit
// passages. It uses the vectors of e or, if the database has none or e fails, those of the
// built-in embedder. Without either, it returns no documents, and the error of e if it
// failed.
func (d *Database) Nearest(ctx context.Context, e *Embedders, text string, limit int) (Neighbors, error) {
	n := Neighbors{Generation: d.gen.Manifest.Generation}
	query, x, similarity, err := d.nearestQuery(ctx, e, text)
	if query == nil {
		return n, err
	}
	hits, err := x.Search(query, limit, nil)
	if err != nil {
		return n, err
	}
	n.Similarities = map[uint32]float64{}
	for _, h := range hits {
		document, err := d.table.Document(h.Passage)
		if err != nil {
			return n, err
		}
		n.Similarities[document] = max(n.Similarities[document], similarity(float64(h.Score)))
	}
	return n, nil
}

// nearestQuery returns the vector of a text, the index to search with it, and a function
// that converts a cosine to a similarity. The vector is nil if there is none.
func (d *Database) nearestQuery(ctx context.Context, e *Embedders,
	text string) (query []float32, x *dense.Index, similarity func(float64) float64, err error) {
	if d.provided != nil && d.gen.Provided.Similarity != nil {
		var q denseQuery
		if q, err = d.providedQuery(ctx, e, text); err == nil {
			return q.query, q.index,
				func(cosine float64) float64 { return answerProbability(d.gen.Provided.Similarity, cosine) }, nil
		}
	}
	if d.vectors == nil {
		return nil, nil, nil, err
	}
	query, err = d.embedder.Query(d.lexical.Analyzer().Terms(text))
	return query, d.vectors, func(cosine float64) float64 { return max(0, (cosine-minCosine)/(1-minCosine)) }, err
}
