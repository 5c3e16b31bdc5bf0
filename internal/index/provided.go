package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// providedQueries is the number of synthetic queries sent to an external embedder
	// for measurements. The embedder may charge for each.
	providedQueries = 200
	// maxEmbedderChars is the maximum length of a passage sent to an embedder, in
	// characters. It fits the longest common context windows at one token per
	// character. Most models truncate far earlier without an error.
	maxEmbedderChars = 8000
)

// addProvided indexes the vectors of opt.Embedder, computed now or stored by LEANN, and
// describes them in m.
func (d *Database) addProvided(ctx context.Context, m *generation.Manifest, opt BuildOptions) error {
	p := opt.Embedder
	var vectors dense.Vectors
	var err error
	if opt.Stored != nil {
		vectors, err = d.verifiedVectors(ctx, opt.Stored, p)
	} else {
		vectors, err = embed.Collect(ctx, p, d.table.Passages(), d.providedText, opt.Report)
	}
	if err != nil {
		return err
	}
	inDomain, outOfDomain, err := d.evaluationVectors(ctx, p)
	if err != nil {
		return err
	}
	file := d.gen.File(providedName)
	stats, err := dense.Build(ctx, file, vectors,
		dense.Options{Queries: inDomain, Depth: denseCandidates, Progress: opt.Report})
	if err != nil {
		return fmt.Errorf("cannot index the vectors of %s: %w", p.ID(), err)
	}
	if stats.Rows == 0 {
		return fmt.Errorf("%s returned only zero vectors: check that the model supports this language", p.ID())
	}
	similarity, err := measureSimilarity(file, inDomain, outOfDomain)
	if err != nil {
		return err
	}
	m.Provided = &generation.Provided{
		Embedder:   generation.Embedder{Name: p.ID(), Dimensions: vectors.Dimensions()},
		Recall:     stats.Recall,
		Similarity: similarity,
	}
	return nil
}

// evaluationVectors embeds in-domain and out-of-domain queries for measurements. It
// returns none if p fails, because all passages are embedded by now and must not be
// lost to a rate limit.
func (d *Database) evaluationVectors(ctx context.Context,
	p embed.Provider) (inDomain, outOfDomain [][]float32, err error) {
	queries, err := d.syntheticQueries(providedQueries)
	if err != nil {
		return nil, nil, err
	}
	var texts []string
	for _, q := range queries {
		texts = append(texts, q.text)
	}
	otherTexts, err := d.OutOfDomainQueries()
	if err != nil {
		return nil, nil, err
	}
	vectors, err := p.Embed(ctx, embed.Query, append(texts, otherTexts...))
	if err != nil {
		return nil, nil, ctx.Err()
	}
	return vectors[:len(texts)], vectors[len(texts):], nil
}

// minQueries is the minimum number of queries of each kind for a comparison.
const minQueries = 20

// measureSimilarity measures the cosine of the nearest passage for in-domain and
// out-of-domain queries. It returns nil if the cosine does not separate them.
func measureSimilarity(file confined.Path, inDomain, outOfDomain [][]float32) (*generation.SimilarityStats, error) {
	if len(inDomain) < minQueries || len(outOfDomain) < minQueries {
		return nil, nil
	}
	x, err := dense.Open(file)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	var means [2]float64
	var squares float64
	n := 0
	for kind, queries := range [2][][]float32{inDomain, outOfDomain} {
		var scores []float64
		for _, q := range queries {
			near, err := x.Search(q, 1, nil)
			if err != nil {
				return nil, err
			}
			if len(near) > 0 {
				scores = append(scores, float64(near[0].Score))
			}
		}
		if len(scores) < minQueries {
			return nil, nil
		}
		for _, s := range scores {
			means[kind] += s / float64(len(scores))
		}
		for _, s := range scores {
			squares += (s - means[kind]) * (s - means[kind])
		}
		n += len(scores)
	}
	m := &generation.SimilarityStats{InDomain: means[0], OutOfDomain: means[1], Spread: math.Sqrt(squares / float64(n)),
		Sample: n}
	if m.InDomain-m.OutOfDomain < m.Spread {
		return nil, nil
	}
	return m, nil
}

// answerProbability returns the probability that the database answers a query whose
// nearest passage has this cosine. It applies Bayes' rule to two normal distributions
// with equal priors.
func answerProbability(m *generation.SimilarityStats, cosine float64) float64 {
	variance := max(m.Spread*m.Spread, 1e-6)
	return 1 / (1 + math.Exp(-(m.InDomain-m.OutOfDomain)/variance*(cosine-(m.InDomain+m.OutOfDomain)/2)))
}

// providedText returns the embedder's input for passage i.
func (d *Database) providedText(i int) (string, error) {
	p, err := d.table.Passage(uint32(i))
	if err != nil {
		return "", err
	}
	return embedderInput(&p), nil
}

// embedderInput returns a passage's text, preceded by its title and headings.
func embedderInput(p *passage.Passage) string {
	var places []string
	for _, place := range append([]string{p.Title}, p.Headings...) {
		if place != "" && (len(places) == 0 || places[len(places)-1] != place) {
			places = append(places, place)
		}
	}
	text := strings.TrimSpace(strings.Join(places, " > ") + "\n" + p.Text)
	if text == "" {
		return p.Name() // some servers reject empty texts
	}
	count := 0
	for at := range text {
		if count == maxEmbedderChars {
			return text[:at]
		}
		count++
	}
	return text
}

// A StoredError reports that the vectors stored by a LEANN index do not match an
// embedder.
type StoredError struct {
	Path, Embedder, Why string
}

func (e *StoredError) Error() string {
	return fmt.Sprintf("the vectors in %s do not match %s: %s", e.Path, e.Embedder, e.Why)
}

// verifiedVectors returns the vectors stored by a LEANN index, in the order of the
// passages. It recomputes a few with p, because vectors of another model would silently
// worsen searches.
func (d *Database) verifiedVectors(ctx context.Context, v *leann.Vectors, p embed.Provider) (dense.Vectors, error) {
	const sample = 12
	n := d.table.Passages()
	s := orderedVectors{Vectors: v, labels: make([]int, n)}
	mismatch := func(format string, args ...any) error {
		return &StoredError{v.Path(), p.ID(), fmt.Sprintf(format, args...)}
	}
	for i := range s.labels {
		t, err := d.table.Passage(uint32(i))
		if err != nil {
			return nil, err
		}
		label, ok := v.Label(t.ID, i)
		if !ok {
			return nil, mismatch("no vector for passage %s", t.ID)
		}
		s.labels[i] = label
	}
	if want := p.Dimensions(); want != 0 && want != v.Dimensions() {
		return nil, mismatch("%d dimensions, the model has %d", v.Dimensions(), want)
	}
	var numbers []int
	var texts []string
	for i := range min(sample, n) {
		number := i * n / min(sample, n)
		t, err := d.table.Passage(uint32(number))
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(t.Text) != "" {
			numbers, texts = append(numbers, number), append(texts, t.Text)
		}
	}
	fresh, err := p.Embed(ctx, embed.Document, texts)
	if err != nil {
		return nil, err
	}
	var sum float64
	u := make([]float32, v.Dimensions())
	for i, f := range fresh {
		if len(f) != len(u) {
			return nil, mismatch("%d dimensions, the model has %d", len(u), len(f))
		}
		if err := s.Vector(numbers[i], u); err != nil {
			return nil, err
		}
		sum += cosine(u, f)
	}
	// Half-precision and quantized models of the same weights stay above 0.97.
	const least = 0.9
	if mean := sum / float64(max(1, len(fresh))); !(mean >= least) {
		return nil, mismatch("over %d passages, the mean cosine is %.2f", len(fresh), mean)
	}
	return s, nil
}

// orderedVectors are a LEANN index's vectors in the order of the passages.
type orderedVectors struct {
	*leann.Vectors
	labels []int
}

func (s orderedVectors) Len() int { return len(s.labels) }

func (s orderedVectors) Vector(i int, v []float32) error { return s.Vectors.Vector(s.labels[i], v) }

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// providedQuery embeds the query with the external embedder of the database.
func (d *Database) providedQuery(ctx context.Context, e *Embedders, text string) (denseQuery, error) {
	made := d.gen.Provided
	query, weight, err := e.vector(ctx, made.Name, text)
	_, other := errors.AsType[*embedderMismatchError](err)
	switch {
	case other:
		return denseQuery{}, fmt.Errorf("%w; to use the model, run: docsearch index build %s", err, d.dir)
	case err != nil:
		return denseQuery{}, err
	case len(query) != d.provided.Dimensions():
		return denseQuery{},
			fmt.Errorf("the model returns %d dimensions, the index has %d; to use the model, run: docsearch index build %s",
				len(query), d.provided.Dimensions(), d.dir)
	}
	return denseQuery{query: query, index: d.provided, weight: weight, relative: true}, nil
}
