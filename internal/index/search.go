package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// A Query asks a database for passages.
type Query struct {
	Text     string
	Keywords []string // names and synonyms the asker knows
	Names    []string // the database's own names: they tell its passages apart from nothing
	Named    bool     // the asker named the database otherwise than in the text
	Version  string   // of what the database documents; empty: the one that the build found
	TopK     int      // hits wanted; 0 means 10
	Filter   string   // see the type filter; "" is none
	URLs     []string // prefixes of the database's pages, for Filter
	// Embedders may be asked for the query's vector, by databases that have
	// vectors of theirs; nil: nobody may.
	Embedders *Embedders
}

// A Result is what a database has to say to a query.
type Result struct {
	Hits []Hit // best first
	// Confidence is the estimated probability that the best hit answers the
	// query; Confident, that it reaches the database's threshold by the lexical
	// evidence, which is what the hook has.
	Confidence float64
	Confident  bool
	// Notes say what of the search could not be done, and why.
	Notes []string

	signals lexical.Signals // that Confidence was reckoned from
}

// A Hit is a passage with its scores, which compare within one result only.
type Hit struct {
	passage.Passage
	Number  uint32
	Score   float64      // what the hits are ordered by
	Lexical float64      // the part of it that words and structure gave
	Dense   float64      // the part that vectors gave
	words   *lexical.Hit // what Lexical is the sum of; nil: vectors alone found it
}

const (
	defaultTopK = 10
	// candidates is how many of the best by words, neighbours how many of the
	// best by vectors are scored in full. Deeper changes nothing measurable.
	candidates = 200
	neighbours = 50
	// denseWeight is what the vectors' part of the best hit counts, beside a
	// lexical score that is about 1 for the best by words.
	denseWeight = 0.3
)

// Search finds the passages that answer a query. An empty query has no hits.
// A part of the index that is damaged leaves a note where the other part can
// answer, and is the error where it cannot.
func (d *Database) Search(ctx context.Context, q Query) (Result, error) {
	if q.TopK <= 0 {
		q.TopK = defaultTopK
	}
	accept, err := d.accept(q.Filter, q.URLs)
	if err != nil {
		return Result{}, err
	}
	words := lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: d.gen.VersionOr(q.Version), Limit: max(candidates, q.TopK), Accept: accept}
	hits, signals, err := d.lexical.Search(words)
	if err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	r := Result{signals: signals}
	if len(hits) > 0 {
		r.Confidence, r.Confident = quicksearch.Judge(d.gen.Confidence, signals)
	}
	fused := make([]Hit, len(hits))
	for i, h := range hits {
		fused[i] = Hit{Number: h.Passage, Lexical: h.Score, Score: h.Score, words: &hits[i]}
	}
	signals.Relaxed = signals.Relaxed || len(hits) == 0
	constraint, err := d.lexical.Constraint(words, signals)
	if err != nil {
		return Result{}, err
	}
	fused = d.addDense(ctx, q, fused, constraint, &r)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	slices.SortFunc(fused, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Number, b.Number))
	})
	r.Hits, err = d.fill(fused, q.TopK)
	return r, err
}

// addDense adds what vectors have to say to what words have: the vectors of
// the provided embedder or, where there are none or it cannot be asked, the
// builtin one's. Passages that only vectors find meet the constraint, too. It
// notes in r what could not be done, and how sure the provided vectors are
// where they are surer than the words.
func (d *Database) addDense(ctx context.Context, q Query, hits []Hit, c lexical.Constraint, r *Result) []Hit {
	text, accept := strings.TrimSpace(strings.Join(append([]string{c.Text}, q.Keywords...), " ")), c.Accept
	if text == "" {
		return hits
	}
	if d.provided != nil {
		v, err := d.providedView(ctx, q.Embedders, text)
		var ranked []Hit
		var nearest float64
		if err == nil {
			ranked, nearest, err = v.rank(hits, accept)
		}
		if err == nil {
			if m := d.gen.Provided.Similarity; m != nil && len(ranked) > 0 {
				r.Confidence = max(r.Confidence, probability(m, nearest))
			}
			return ranked
		}
		r.Notes = append(r.Notes, fmt.Sprintf("searched without the vectors of %s: %v", d.gen.Provided.Name, err))
	}
	if d.vectors != nil {
		query, err := d.embedder.Query(d.lexical.Analyzer().Terms(text))
		if err == nil && query != nil {
			hits, _, err = view{query: query, passages: d.vectors, weight: denseWeight}.rank(hits, accept)
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("lexical search only: %v", err))
		}
	}
	return hits
}

// A view is a query as an embedder sees it, and the vectors to see with it.
type view struct {
	query    []float32
	passages *dense.Index
	weight   float64
	// relative: neural embedders make vectors of which even strangers are
	// near, so that a cosine tells little by its size. What counts is how far
	// it is above that of the last of the neighbours.
	relative bool
}

// rank adds to the candidates those that are near the query, and to every
// score the vectors' part: the cosine as a share of the query's best,
// weighted. It returns the nearest passage's cosine, too. If it fails the hits
// are as they were.
func (v view) rank(hits []Hit, accept func(uint32) bool) ([]Hit, float64, error) {
	near, err := v.passages.Search(v.query, neighbours, accept)
	if err != nil || len(near) == 0 {
		return hits, 0, err
	}
	best, floor := float64(near[0].Score), 0.0
	if last := float64(near[len(near)-1].Score); v.relative && last < best {
		floor = last
	}
	if best <= floor {
		return hits, best, nil
	}
	part := func(score float32) float64 {
		return v.weight * max(0, float64(score)-floor) / (best - floor)
	}
	numbers := make([]uint32, len(hits))
	seen := make(map[uint32]bool, len(hits))
	for i, h := range hits {
		numbers[i] = h.Number
		seen[h.Number] = true
	}
	scores, err := v.passages.Scores(v.query, numbers)
	if err != nil {
		return hits, 0, err
	}
	for i, s := range scores {
		hits[i].Dense = part(s)
	}
	for _, n := range near {
		if dense := part(n.Score); dense > 0 && !seen[n.Passage] {
			hits = append(hits, Hit{Number: n.Passage, Dense: dense})
		}
	}
	for i := range hits {
		hits[i].Score = hits[i].Lexical + hits[i].Dense
	}
	return hits, best, nil
}

// fill reads the best passages, at most lexical.PerDocument of one document and
// none twice that says the same. The lexical index has limited its own hits;
// those that vectors found come on top.
func (d *Database) fill(ranked []Hit, topK int) ([]Hit, error) {
	var out []Hit
	ofDocument := make(map[uint32]int)
	texts := make(map[string]bool)
	for _, h := range ranked {
		if len(out) == topK {
			break
		}
		doc, err := d.table.Document(h.Number)
		if err != nil {
			return nil, err
		}
		if ofDocument[doc] == lexical.PerDocument {
			continue
		}
		if h.Passage, err = d.table.Passage(h.Number); err != nil {
			return nil, err
		}
		if texts[h.Text] {
			continue
		}
		texts[h.Text] = true
		ofDocument[doc]++
		out = append(out, h)
	}
	return out, nil
}
