package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// recallQueries is the number of synthetic queries that measure recall.
	recallQueries = 400
	// minRecall is the minimum recall@10 against exact search of a valid index.
	minRecall = 0.99
	// scoreTolerance is the difference up to which a full-precision and a
	// reduced-precision cosine count as equal.
	scoreTolerance = 2e-4
)

// addVectors trains the built-in embedder on the passages of the generation being
// built. It writes the embedder and the vector index and describes both in m. The
// receiver is that generation, without vectors.
func (d *Database) addVectors(ctx context.Context, m *generation.Manifest, opt BuildOptions, content termsFunc) error {
	terms := func(i int) ([]string, error) {
		if list, known := content.terms(i); known {
			return list, nil
		}
		return d.terms(i)
	}
	model, err := embed.Train(ctx, d.table.Passages(), terms, opt.Report)
	if err != nil {
		return fmt.Errorf("cannot train the embedder: %w", err)
	}
	if model == nil {
		return nil // too few passages for training
	}
	if err := model.Write(d.gen.File(embedderName)); err != nil {
		return err
	}
	if d.embedder, err = embed.OpenBuiltin(d.gen.File(embedderName)); err != nil {
		return err
	}
	queries, err := d.queryVectors(recallQueries)
	if err != nil {
		return err
	}
	stats, err := dense.Build(ctx, d.gen.File(vectorsName), model,
		dense.Options{Queries: queries, Depth: denseCandidates, Progress: opt.Report})
	if err != nil {
		return fmt.Errorf("cannot index the vectors: %w", err)
	}
	m.Embedder = &generation.Embedder{Name: embed.BuiltinName, Dimensions: model.Dimensions()}
	m.Recall = &stats.Recall
	return nil
}

// terms returns the terms from which the embedder computes the vector of passage i. The
// headings count twice because they describe the subject.
func (d *Database) terms(i int) ([]string, error) {
	p, err := d.table.Passage(uint32(i))
	if err != nil {
		return nil, err
	}
	return d.lexical.Analyzer().Terms(trainingText(&p)), nil
}

// terms is like Database.terms for passages whose terms are known.
func (c termsFunc) terms(i int) (list []string, known bool) {
	if c == nil {
		return nil, false
	}
	head, body, known := c(i)
	return slices.Concat(head, head, body), known
}

func trainingText(p *passage.Passage) string {
	head := p.Title + "\n" + strings.Join(p.Headings, "\n") + "\n"
	return head + head + p.Text
}

// queryVectors embeds synthetic queries. It drops queries without known terms.
func (d *Database) queryVectors(n int) ([][]float32, error) {
	queries, err := d.syntheticQueries(n)
	if err != nil {
		return nil, err
	}
	var vectors [][]float32
	for _, q := range queries {
		v, err := d.embedder.Query(d.lexical.Analyzer().Terms(q.text))
		if err != nil {
			return nil, err
		}
		if v != nil {
			vectors = append(vectors, v)
		}
	}
	return vectors, nil
}

// measureRecall compares the vector search with exact search. A hit that scores as high
// as the last of the exact ten is correct.
func (d *Database) measureRecall(ctx context.Context) (*generation.Recall, error) {
	const k = 10
	queries, err := d.queryVectors(recallQueries)
	if err != nil {
		return nil, err
	}
	r := generation.Recall{At: k, Value: 1, Sample: len(queries), Mode: d.gen.Recall.Mode}
	found, total := 0, 0
	for _, q := range queries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		exact, err := d.vectors.Exact(q, k, nil)
		if err != nil {
			return nil, err
		}
		hits, err := d.vectors.Search(q, len(exact), nil)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if h.Score >= exact[len(exact)-1].Score-scoreTolerance {
				found++
			}
		}
		total += len(exact)
	}
	if total > 0 {
		r.Value = float64(found) / float64(total)
	}
	return &r, nil
}
