package index_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// An engine is a search engine in memory: exact BM25 as Weaviate computes it.
type engine struct {
	found   []index.Found
	bags    []map[string]int
	lengths []int
	df      map[string]int
	average float64
}

func (e *engine) add(p index.Exported) error {
	bag, n := map[string]int{}, 0
	for term := range strings.FieldsSeq(p.Bag) {
		bag[term]++
		n++
	}
	for term := range bag {
		if e.df == nil {
			e.df = map[string]int{}
		}
		e.df[term]++
	}
	e.bags, e.lengths = append(e.bags, bag), append(e.lengths, n)
	e.average += float64(n)
	e.found = append(e.found, index.Found{ID: p.ID, Document: p.Document, Place: p.Place, Line: string(p.Line), Record: p.Record})
	return nil
}

func (e *engine) find(text string, limit int) ([]index.Found, error) {
	const k1, b = 6, .5
	average := e.average / float64(len(e.bags))
	type scored struct {
		n     int
		score float64
	}
	var best []scored
	for i, bag := range e.bags {
		score := 0.
		for term := range strings.FieldsSeq(text) { // a repeated term counts repeatedly
			if tf := float64(bag[term]); tf > 0 {
				idf := math.Log(1 + (float64(len(e.bags)-e.df[term])+.5)/(float64(e.df[term])+.5))
				score += idf * tf / (tf + k1*(1-b+b*float64(e.lengths[i])/average))
			}
		}
		if score > 0 {
			best = append(best, scored{i, score})
		}
	}
	slices.SortFunc(best, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.n, b.n)) })
	var found []index.Found
	for _, s := range best[:min(limit, len(best))] {
		found = append(found, e.found[s.n])
	}
	return found, nil
}

func (e *engine) Document(_ context.Context, key string) (found []index.Found, _ error) {
	for _, f := range e.found {
		if f.Document == key {
			found = append(found, f)
		}
	}
	return found, nil
}

func (e *engine) Passage(_ context.Context, id string) (found []index.Found, _ error) {
	for _, f := range e.found {
		if f.ID == id {
			found = append(found, f)
		}
	}
	return found, nil
}

// exported returns the database as a search engine has it.
func exported(tb testing.TB, db *index.Database) (*index.External, *engine) {
	tb.Helper()
	e := &engine{}
	data, err := db.Export(tb.Context(), e.add)
	if err != nil {
		tb.Fatal(err)
	}
	x, err := index.OpenExternal(data)
	if err != nil {
		tb.Fatal(err)
	}
	return x, e
}

// A search engine gives the hits and the confidence of the lexical search on this machine.
func TestExternal(t *testing.T) {
	db, err := index.Open(indextest.Database(t, 2000))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	x, e := exported(t, db)
	if x.Passages() != db.Info().Passages || len(e.found) != x.Passages() {
		t.Fatalf("%d passages, %d in the engine, want %d", x.Passages(), len(e.found), db.Info().Passages)
	}
	same, judged, queries := 0, 0, indextest.Queries(40)
	for _, text := range queries {
		have, err := x.Search(index.Query{Text: text, TopK: 5}, e.find)
		if err != nil {
			t.Fatal(err)
		}
		want, err := db.Search(t.Context(), index.Query{Text: text, TopK: 50})
		if err != nil {
			t.Fatal(err)
		}
		if len(have.Hits) == 0 || len(want.Hits) == 0 {
			t.Fatalf("query %q has no hits", text)
		}
		// The search on this machine uses vectors, too.
		best := slices.MaxFunc(want.Hits, func(a, b index.Hit) int { return cmp.Compare(a.Lexical, b.Lexical) })
		if have.Hits[0].Lexical > best.Lexical-1e-6 {
			same++
		}
		if have.Confident == want.Confident {
			judged++
		}
	}
	if same < len(queries)*8/10 || judged < len(queries)*9/10 {
		t.Errorf("of %d queries, %d have the best hit of the local search, %d its confidence", len(queries), same, judged)
	}

	hit, err := x.Search(index.Query{Text: queries[0], TopK: 1}, e.find)
	if err != nil {
		t.Fatal(err)
	}
	p := hit.Hits[0].Passage
	for _, name := range []string{p.ID, p.Document()} {
		have, err := index.ReadExternal(t.Context(), e, index.Ref{Name: name, Neighbors: 1})
		if err != nil {
			t.Fatal(err)
		}
		want, err := db.Read(index.Ref{Name: name, Neighbors: 1})
		if err != nil {
			t.Fatal(err)
		}
		if have.First != want.First || have.Total != want.Total || have.Wanted != want.Wanted || len(have.Passages) != len(want.Passages) {
			t.Errorf("read %q: %+v, want %+v", name, have, want)
		}
	}
	filtered, err := x.Search(index.Query{Text: queries[0], Filter: p.Document()}, e.find)
	if err != nil || len(filtered.Hits) == 0 || slices.ContainsFunc(filtered.Hits, func(h index.Hit) bool { return h.Document() != p.Document() }) {
		t.Errorf("filter %q: %d hits, error %v", p.Document(), len(filtered.Hits), err)
	}
}

// Passages without a URL or path are documents of their own.
func TestExternalWithoutDocuments(t *testing.T) {
	dir := t.TempDir()
	indextest.Build(t, dir, index.BuildOptions{},
		passage.Passage{ID: "p0", Text: "The walrus has tusks."},
		passage.Passage{ID: "p1", Text: "The walrus swims to a glacier."},
		passage.Passage{ID: "p2", Text: "A glacier is made of ice."})
	db, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	x, e := exported(t, db)
	r, err := x.Search(index.Query{Text: "walrus glacier"}, e.find)
	if err != nil || len(r.Hits) != 3 || r.Hits[0].ID != "p1" {
		t.Fatalf("hits %+v, error %v; want three, p1 first", r.Hits, err)
	}
	reading, err := index.ReadExternal(t.Context(), e, index.Ref{Name: "p2", Neighbors: 1})
	if err != nil || reading.Total != 1 || reading.Wanted != 0 || reading.Passages[0].ID != "p2" {
		t.Errorf("read p2: %+v, error %v", reading, err)
	}
}

// An engine may find a passage twice.
func TestExternalTwice(t *testing.T) {
	db, err := index.Open(indextest.Database(t, 300))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	x, e := exported(t, db)
	once, err := x.Search(index.Query{Text: indextest.Question}, e.find)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := x.Search(index.Query{Text: indextest.Question}, func(text string, limit int) ([]index.Found, error) {
		found, err := e.find(text, limit)
		return append(found, found...), err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(once.Hits) == 0 || len(twice.Hits) != len(once.Hits) {
		t.Fatalf("%d hits, %d of the passages once", len(twice.Hits), len(once.Hits))
	}
	for i := range once.Hits {
		if once.Hits[i].ID != twice.Hits[i].ID || once.Hits[i].Score != twice.Hits[i].Score {
			t.Errorf("hit %d is %s with %f, want %s with %f", i, twice.Hits[i].ID, twice.Hits[i].Score, once.Hits[i].ID, once.Hits[i].Score)
		}
	}
}

// If an engine finds all passages of a query, the hook quotes the same ones as from a
// database on this machine.
func TestExternalQuote(t *testing.T) {
	dir := indextest.Database(t, 150)
	db, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	local, err := quicksearch.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	x, e := exported(t, db)
	ids := func(a quicksearch.Answer) (ids []string) {
		for _, h := range a.Hits {
			ids = append(ids, h.ID)
		}
		return ids
	}
	quoted := 0
	for _, text := range append(indextest.Queries(30), indextest.Question) {
		q := quicksearch.Query{Text: text, Limit: 5, MaxBytes: 4000, Named: true}
		want, err := local.Quote(q)
		if err != nil {
			t.Fatal(err)
		}
		have, err := x.Quote(q, e.find)
		if err != nil {
			t.Fatal(err)
		}
		if have.Confident != want.Confident || math.Abs(have.Confidence-want.Confidence) > 1e-9 {
			t.Errorf("%q: confidence %v, want %v", text, have.Confidence, want.Confidence)
		}
		if have.Confident {
			quoted++
			if h, w := ids(have), ids(want); h[0] != w[0] {
				t.Errorf("%q: quoted %v, want %v", text, h, w)
			}
		}
	}
	if quoted == 0 {
		t.Error("no query has a confident answer")
	}
}
