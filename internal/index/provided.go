package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// providedQueries is how many pseudo-queries an embedder is asked for, to
	// measure with. It may be paid for each.
	providedQueries = 200
	// mostEmbedded is how much of a passage is sent to an embedder, in
	// characters: as much as the models with the longest window take at worst,
	// a token each. Most models read far less and say nothing.
	mostEmbedded = 8000
)

// addProvided adds the vectors that opt.Embedder makes of the passages, or has
// made before, and notes them in m.
func (d *Database) addProvided(ctx context.Context, m *generation.Manifest, opt BuildOptions) error {
	p := opt.Embedder
	var vectors dense.Vectors
	var err error
	if opt.Stored != nil {
		vectors, err = d.stored(ctx, opt.Stored, p)
	} else {
		vectors, err = embed.Collect(ctx, p, d.table.Passages(), d.described, opt.Report)
	}
	if err != nil {
		return err
	}
	own, foreign, err := d.questions(ctx, p)
	if err != nil {
		return err
	}
	file := d.gen.File(providedName)
	stats, err := dense.Build(ctx, file, vectors, dense.Options{Queries: own, Depth: neighbours, Progress: opt.Report})
	if err != nil {
		return fmt.Errorf("cannot index the vectors of %s: %w", p.ID(), err)
	}
	if stats.Rows == 0 {
		return fmt.Errorf("%s returned only zero vectors: check that the model supports this language", p.ID())
	}
	nearness, err := measureNearness(file, own, foreign)
	if err != nil {
		return err
	}
	m.Provided = &generation.Provided{
		Embedder:   generation.Embedder{Name: p.ID(), Dimensions: vectors.Dimensions()},
		Recall:     stats.Recall,
		Similarity: nearness,
	}
	return nil
}

// questions are the vectors of questions that the database answers and of
// some that it does not, to measure with. There are none if p refuses: by now
// all passages are embedded, too much to give up because a server has had
// enough.
func (d *Database) questions(ctx context.Context, p embed.Provider) (own, foreign [][]float32, err error) {
	queries, err := d.pseudoQueries(providedQueries)
	if err != nil {
		return nil, nil, err
	}
	var texts []string
	for _, q := range queries {
		texts = append(texts, q.text)
	}
	others, err := d.OutOfDomainQueries()
	if err != nil {
		return nil, nil, err
	}
	vectors, err := p.Embed(ctx, embed.Query, append(texts, others...))
	if err != nil {
		return nil, nil, ctx.Err()
	}
	return vectors[:len(texts)], vectors[len(texts):], nil
}

// leastQuestions is how many questions of either kind it takes to tell them
// apart.
const leastQuestions = 20

// measureNearness finds out how near the nearest passage is to questions that
// the database answers, and to those it does not. It returns nil where that
// does not tell them apart.
func measureNearness(file confined.Path, own, foreign [][]float32) (*generation.SimilarityStats, error) {
	if len(own) < leastQuestions || len(foreign) < leastQuestions {
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
	for kind, questions := range [2][][]float32{own, foreign} {
		var scores []float64
		for _, q := range questions {
			near, err := x.Search(q, 1, nil)
			if err != nil {
				return nil, err
			}
			if len(near) > 0 {
				scores = append(scores, float64(near[0].Score))
			}
		}
		if len(scores) < leastQuestions {
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
	m := &generation.SimilarityStats{InDomain: means[0], OutOfDomain: means[1], Spread: math.Sqrt(squares / float64(n)), Sample: n}
	if m.InDomain-m.OutOfDomain < m.Spread {
		return nil, nil
	}
	return m, nil
}

// probability is how likely the database answers a question whose nearest
// passage has that cosine: by Bayes' rule for two normal distributions, with
// as much said for either kind beforehand.
func probability(m *generation.SimilarityStats, cosine float64) float64 {
	variance := max(m.Spread*m.Spread, 1e-6)
	return 1 / (1 + math.Exp(-(m.InDomain-m.OutOfDomain)/variance*(cosine-(m.InDomain+m.OutOfDomain)/2)))
}

// described is what an embedder sees of a passage: where it stands, and its
// text.
func (d *Database) described(i int) (string, error) {
	p, err := d.table.Passage(uint32(i))
	if err != nil {
		return "", err
	}
	return describe(&p), nil
}

func describe(p *passage.Passage) string {
	var places []string
	for _, place := range append([]string{p.Title}, p.Headings...) {
		if place != "" && (len(places) == 0 || places[len(places)-1] != place) {
			places = append(places, place)
		}
	}
	text := strings.TrimSpace(strings.Join(places, " > ") + "\n" + p.Text)
	if text == "" {
		return p.Name() // a text must be something, for some servers
	}
	count := 0
	for at := range text {
		if count == mostEmbedded {
			return text[:at]
		}
		count++
	}
	return text
}

// A StoredError says that vectors which an index kept cannot stand for those
// of an embedder.
type StoredError struct {
	Path, Embedder, Why string
}

func (e *StoredError) Error() string {
	return fmt.Sprintf("the vectors in %s do not match %s: %s", e.Path, e.Embedder, e.Why)
}

// stored are the vectors that a LEANN index kept, by passage. Whether they are
// really p's is tried on a few: vectors of another model would make searches
// worse, and nothing else would tell.
func (d *Database) stored(ctx context.Context, v *leann.Vectors, p embed.Provider) (dense.Vectors, error) {
	const sample = 12
	n := d.table.Passages()
	s := storedVectors{Vectors: v, labels: make([]int, n)}
	foreign := func(format string, args ...any) error {
		return &StoredError{v.Path(), p.ID(), fmt.Sprintf(format, args...)}
	}
	for i := range s.labels {
		t, err := d.table.Passage(uint32(i))
		if err != nil {
			return nil, err
		}
		label, ok := v.Label(t.ID, i)
		if !ok {
			return nil, foreign("no vector for passage %s", t.ID)
		}
		s.labels[i] = label
	}
	if want := p.Dimensions(); want != 0 && want != v.Dimensions() {
		return nil, foreign("%d dimensions, the model has %d", v.Dimensions(), want)
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
			return nil, foreign("%d dimensions, the model has %d", len(u), len(f))
		}
		if err := s.Vector(numbers[i], u); err != nil {
			return nil, err
		}
		sum += cosine(u, f)
	}
	// Half-precision and quantised models of the same weights stay above .97.
	const least = 0.9
	if mean := sum / float64(max(1, len(fresh))); !(mean >= least) {
		return nil, foreign("over %d passages, the mean cosine is %.2f", len(fresh), mean)
	}
	return s, nil
}

// storedVectors are a LEANN index's vectors in the order of the passages.
type storedVectors struct {
	*leann.Vectors
	labels []int
}

func (s storedVectors) Len() int { return len(s.labels) }

func (s storedVectors) Vector(i int, v []float32) error { return s.Vectors.Vector(s.labels[i], v) }

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}

// providedView is the query as the provided embedder sees it.
func (d *Database) providedView(ctx context.Context, e *Embedders, text string) (view, error) {
	made := d.gen.Provided
	query, weight, err := e.vector(ctx, made.Name, text)
	var other *otherEmbedderError
	switch {
	case errors.As(err, &other):
		return view{}, fmt.Errorf("%w; to use the model, run: docsearch index build %s", err, d.dir)
	case err != nil:
		return view{}, err
	case len(query) != d.provided.Dimensions():
		return view{}, fmt.Errorf("the model returns %d dimensions, the index has %d; to use the model, run: docsearch index build %s",
			len(query), d.provided.Dimensions(), d.dir)
	}
	return view{query: query, passages: d.provided, weight: weight, relative: true}, nil
}
