package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// A Query is a search in one database.
type Query struct {
	Text     string
	Keywords []string // exact names and synonyms from the caller
	Names    []string // the database's names, which do not discriminate between its passages
	Named    bool     // the caller selected the database other than by the text
	Version  string   // documented version; empty: the version that the build detected
	Used     string   // version of the documented software in use; empty if unknown
	TopK     int      // maximum number of hits; 0 means 10
	Filter   string   // see type filter; "" for none
	URLs     []string // URL prefixes of the database's pages, for Filter
	// Embedders compute the query's vector for databases with vectors of an external
	// embedder. Nil disables them.
	Embedders *Embedders
}

// ErrTooLong is wrapped by the error for a query that is longer than lexical.MaxQuery.
var ErrTooLong = errors.New("the query is too long")

// Check returns an error if the query is too long. Searches check it, and so do callers
// that analyze the text themselves.
func (q *Query) Check() error {
	size := len(q.Text) + len(q.Filter)
	for _, k := range q.Keywords {
		size += len(k)
	}
	if size > lexical.MaxQuery {
		return fmt.Errorf("%w: %d bytes with its keywords and its filter, want at most %d", ErrTooLong, size, lexical.MaxQuery)
	}
	return nil
}

// A Result is the result of a query to one database.
type Result struct {
	Hits []Hit // best first
	// Confidence is the estimated probability that the best hit answers the query.
	// Confident reports that it reaches the database's threshold by lexical evidence
	// alone, which is all that the hook uses.
	Confidence float64
	Confident  bool
	// Notes report parts of the search that failed, and operators that exclude all hits.
	Notes []string

	signals lexical.Signals // from which Confidence was computed
}

// NamedPage reports that the query is a name and the best hit's page is about it. Merge
// uses it, so a server sends it with its results.
func (r *Result) NamedPage() bool { return r.signals.NamedPage }

// SetNamedPage sets NamedPage of a result that another server found.
func (r *Result) SetNamedPage(is bool) { r.signals.NamedPage = is }

// A Hit is a passage with its scores, which are comparable within one result only.
type Hit struct {
	passage.Passage
	Number  uint32
	Score   float64     // determines the order
	Lexical float64     // lexical part of Score
	Dense   float64     // vector part of Score
	words   lexical.Hit // breakdown of Lexical
}

const (
	defaultTopK = 10
	// lexicalCandidates and denseCandidates are the numbers of best lexical and vector
	// hits that are fully scored. Larger values have no measurable effect.
	lexicalCandidates = 200
	denseCandidates   = 50
	// denseWeight is the vector score of the nearest passage, relative to a best
	// lexical score of about 1.
	denseWeight = 0.3
)

// Search returns the passages that best answer a query. An empty query has no hits. If
// one part of the index is damaged and the other part can answer, Search returns a note
// instead of an error.
func (d *Database) Search(ctx context.Context, q Query) (Result, error) {
	if err := q.Check(); err != nil {
		return Result{}, err
	}
	if q.TopK <= 0 {
		q.TopK = defaultTopK
	}
	accept, err := d.accept(q.Filter, q.URLs)
	if err != nil {
		return Result{}, err
	}
	words := q.words(d.gen.VersionOr(q.Version), max(lexicalCandidates, q.TopK))
	words.Accept = accept
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
		fused[i] = Hit{Number: h.Passage, Lexical: h.Score, Score: h.Score, words: h}
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
	if fused, err = d.oneOfFamily(&words, fused); err != nil {
		return Result{}, err
	}
	if len(fused) == 0 && signals.Excluding != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("all results are excluded by %s (a leading hyphen excludes a word)", signals.Excluding))
	}
	r.Hits, err = d.readHits(fused, signals.Names, q.TopK)
	return r, err
}

// oneOfFamily removes the hits of documents for which another one of their family is preferred:
// the lexical index chooses among its own hits only.
func (d *Database) oneOfFamily(q *lexical.Query, hits []Hit) ([]Hit, error) {
	if !d.lexical.HasFamilies() {
		return hits, nil
	}
	documents, scores := make([]uint32, len(hits)), make([]float64, len(hits))
	for i := range hits {
		var err error
		if documents[i], err = d.table.Document(hits[i].Number); err != nil {
			return nil, err
		}
		scores[i] = hits[i].Score
	}
	others, err := d.lexical.Others(q, documents, scores)
	if err != nil {
		return nil, err
	}
	kept := hits[:0]
	for i, h := range hits {
		if !others[documents[i]] {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// words returns the query for the lexical index.
func (q *Query) words(version string, limit int) lexical.Query {
	return lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: version, Used: q.Used, Limit: limit}
}

// addDense adds vector scores and candidates to the lexical hits. It uses the external
// embedder's vectors or, if there are none or the embedder fails, the built-in ones.
// Candidates found by vectors must satisfy the constraint too. It adds a note to r for
// each failure, and raises r.Confidence if the external vectors give a higher one.
func (d *Database) addDense(ctx context.Context, q Query, hits []Hit, c lexical.Constraint, r *Result) []Hit {
	text, accept := strings.TrimSpace(strings.Join(append([]string{c.Text}, q.Keywords...), " ")), c.Accept
	if text == "" {
		return hits
	}
	if d.provided != nil {
		v, err := d.providedQuery(ctx, q.Embedders, text)
		var ranked []Hit
		var nearest float64
		if err == nil {
			ranked, nearest, err = v.rank(hits, accept)
		}
		if err == nil {
			if m := d.gen.Provided.Similarity; m != nil && len(ranked) > 0 {
				r.Confidence = max(r.Confidence, answerProbability(m, nearest))
			}
			return ranked
		}
		r.Notes = append(r.Notes, fmt.Sprintf("searched without the vectors of %s: %v", d.gen.Provided.Name, err))
	}
	if d.vectors != nil {
		query, err := d.embedder.Query(d.lexical.Analyzer().Terms(text))
		if err == nil && query != nil {
			hits, _, err = denseQuery{query: query, index: d.vectors, weight: denseWeight}.rank(hits, accept)
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("lexical search only: %v", err))
		}
	}
	return hits
}

// A denseQuery is a query vector with the vector index to search.
type denseQuery struct {
	query  []float32
	index  *dense.Index
	weight float64
	// relative scores a passage by its cosine above the last neighbor's. Vectors of
	// neural models have a high cosine even for unrelated texts, so that absolute
	// values mean little.
	relative bool
}

// rank adds the nearest passages to the hits, and to each score the vector part: the
// weighted cosine, relative to the query's best. It also returns the cosine of the
// nearest passage. On error the hits are unchanged.
func (v denseQuery) rank(hits []Hit, accept func(uint32) bool) ([]Hit, float64, error) {
	near, err := v.index.Search(v.query, denseCandidates, accept)
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
	scores, err := v.index.Scores(v.query, numbers)
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

// readHits reads the best passages, none with the same text as another: those that the documents'
// quotas admit, then others. The lexical index limits only its own hits.
func (d *Database) readHits(ranked []Hit, names uint64, topK int) ([]Hit, error) {
	var out, beyond []Hit
	quota := lexical.NewQuota(d.lexical.PerDocument(), names)
	texts := make(map[string]bool)
	read := func(h Hit) (isNew bool, err error) {
		if h.Passage, err = d.table.Passage(h.Number); err != nil || texts[h.Text] {
			return false, err
		}
		texts[h.Text] = true
		out = append(out, h)
		return true, nil
	}
	for _, h := range ranked {
		if len(out) == topK {
			return out, nil
		}
		doc, err := d.table.Document(h.Number)
		if err != nil {
			return nil, err
		}
		h.words.Document = doc // a hit found by vectors only has none
		if h.words.Beyond || !quota.Admits(&h.words) {
			beyond = append(beyond, h)
			continue
		}
		isNew, err := read(h)
		if err != nil {
			return nil, err
		}
		if isNew {
			quota.Add(&h.words)
		}
	}
	for _, h := range beyond {
		if len(out) == topK {
			break
		}
		if _, err := read(h); err != nil {
			return nil, err
		}
	}
	return out, nil
}
