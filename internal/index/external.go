package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

const (
	// externalCandidates is the number of passages that a search engine is asked for.
	// With 200, the five best of a local search are among them for 99% of the queries.
	externalCandidates = 200
	// filteredCandidates is their number if the query has a filter, which the search
	// engine does not know.
	filteredCandidates = 1000
)

// An Exported is a passage of a database in the form in which a search engine stores it.
type Exported struct {
	lexical.Exported
	ID       string
	Document string // key of its document, unique also if the passages have none
	Place    int    // number of passages of the document before it
	Line     []byte // of the passages file, without the newline
}

// Export calls each with every passage of the database, document by document, and returns
// the data of OpenExternal.
func (d *Database) Export(ctx context.Context, each func(Exported) error) (data []byte, err error) {
	places := map[uint32]int{}
	err = d.lexical.Export(ctx, func(n uint32, e lexical.Exported) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		document, err := d.table.Document(n)
		if err != nil {
			return err
		}
		key, err := d.table.Key(document)
		if err != nil {
			return err
		}
		line, err := d.table.Line(n)
		if err != nil {
			return err
		}
		p, err := d.table.Passage(n)
		if err != nil {
			return err
		}
		if key == "" {
			key = "#" + p.ID // a document of its own; no path or URL without its anchor is like this
		}
		place := places[document]
		places[document]++
		return each(Exported{e, p.ID, key, place, line})
	})
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(externalHead{Version: d.gen.VersionOr(""), Language: d.gen.Language,
		Partial: d.gen.Partial, Confidence: d.gen.Confidence, Documents: d.table.Documents()})
	if err != nil {
		return nil, err
	}
	data = append(binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head...)
	return d.lexical.AppendStatistics(data)
}

// externalHead is what searches need of a database besides its statistics. The data of
// OpenExternal is [4] the length of the head, the head as JSON, and the statistics (see
// lexical.Index.AppendStatistics).
type externalHead struct {
	Version    string                 `json:"version,omitempty"` // that the build detected
	Language   string                 `json:"language,omitempty"`
	Partial    generation.Partial     `json:"partial,omitempty"`
	Confidence *generation.Confidence `json:"confidence,omitempty"`
	Documents  int                    `json:"documents"`
}

// An External is a database whose passages a search engine stores. It ranks what the
// engine finds like a local database, without vectors, and has the same confidence: the
// signals of both are equal if the best passage is among the candidates. It may be used
// concurrently.
type External struct {
	head       externalHead
	statistics *lexical.Statistics
}

// A Found is a passage that a search engine found.
type Found struct {
	ID       string
	Document string
	Place    int
	Line     string
	Record   []byte
}

// OpenExternal opens a database with the data that Export returned, to which it keeps a
// reference.
func OpenExternal(data []byte) (*External, error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, fmt.Errorf("%w: truncated", lexical.ErrStatistics)
	}
	end := 4 + int(binary.LittleEndian.Uint32(data))
	x := &External{}
	if err := json.Unmarshal(data[4:end], &x.head); err != nil {
		return nil, fmt.Errorf("%w: %w", lexical.ErrStatistics, err)
	}
	var err error
	x.statistics, err = lexical.DecodeStatistics(data[end:])
	return x, err
}

// Version returns the documented version that the build detected, or "".
func (x *External) Version() string { return x.head.Version }

// Passages returns the number of passages, Documents the number of documents.
func (x *External) Passages() int  { return x.statistics.Passages() }
func (x *External) Documents() int { return x.head.Documents }

// Search returns the passages that best answer a query. find returns the passages with the
// highest BM25 scores for a text, at most limit. Numbers of hits are their indexes among
// these.
func (x *External) Search(q Query, find func(text string, limit int) ([]Found, error)) (Result, error) {
	if err := q.Check(); err != nil {
		return Result{}, err
	}
	if q.TopK <= 0 {
		q.TopK = defaultTopK
	}
	limit, accepts, err := externalFilter(q)
	if err != nil {
		return Result{}, err
	}
	var found []Found
	words := q.words(cmp.Or(q.Version, x.head.Version), max(lexicalCandidates, q.TopK))
	words.Accept = func(n uint32) bool { return accepts(found[n].Document) }
	hits, signals, err := x.statistics.Search(words, func(text string) ([]lexical.Candidate, error) {
		var err error
		if found, err = find(text, limit); err != nil {
			return nil, err
		}
		return candidatesOf(found), nil
	})
	if err != nil {
		return Result{}, err
	}
	r := Result{signals: signals}
	if len(hits) > 0 {
		r.Confidence, r.Confident = quicksearch.Judge(x.head.Confidence, signals)
	}
	r.Hits, err = readExternal(hits, found, q.TopK)
	return r, err
}

// externalFilter returns the number of candidates for a query, and which documents its
// filter accepts.
func externalFilter(q Query) (limit int, accepts func(document string) bool, err error) {
	if q.Filter == "" {
		return externalCandidates, func(string) bool { return true }, nil
	}
	f, err := newFilter(q.Filter)
	if err != nil {
		return 0, nil, err
	}
	return filteredCandidates, func(document string) bool { return f.matches(document, "", q.URLs) != f.negate }, nil
}

// readExternal decodes the best hits, none with the same text as another.
func readExternal(ranked []lexical.Hit, found []Found, topK int) ([]Hit, error) {
	var hits []Hit
	texts := make(map[string]bool)
	for i := range ranked {
		if len(hits) == topK {
			break
		}
		h := ranked[i]
		p, err := found[h.Passage].Passage()
		if err != nil {
			return nil, err
		}
		if texts[p.Text] {
			continue
		}
		texts[p.Text] = true
		hits = append(hits, Hit{Passage: p, Number: h.Passage, Score: h.Score, Lexical: h.Score, words: h})
	}
	return hits, nil
}

// Passage decodes the passage.
func (f *Found) Passage() (passage.Passage, error) {
	p, err := passage.Decode([]byte(f.Line))
	if err != nil {
		return p, fmt.Errorf("passage %s of %s: %w", f.ID, f.Document, err)
	}
	p.ID = f.ID
	return p, nil
}

// A Library finds the passages of documents that a search engine stores.
type Library interface {
	// Document returns the passages of a document in order, none if there is no such
	// document.
	Document(ctx context.Context, key string) ([]Found, error)
	// Passage returns the passage with an ID: one or none.
	Passage(ctx context.Context, id string) ([]Found, error)
}

// ReadExternal is Database.Read in a search engine. It maps a URL only to documents of the
// same address, not to other versions and files.
func ReadExternal(ctx context.Context, l Library, ref Ref) (Reading, error) {
	if len(ref.Name) > lexical.MaxQuery {
		return Reading{}, errTooLongName
	}
	passages, wanted, err := findExternal(ctx, l, ref.Name)
	if err != nil {
		return Reading{}, err
	}
	if len(passages) == 0 {
		return Reading{}, fmt.Errorf("%q: %w", ref.Name, ErrNotFound)
	}
	at := slices.IndexFunc(passages, func(p passage.Passage) bool { return wanted(&p) })
	r, to := ref.window(at, len(passages))
	r.Passages = passages[r.First:to]
	return r, nil
}

// findExternal returns the document that a name denotes, and which of its passages.
func findExternal(ctx context.Context, l Library,
	name string) (all []passage.Passage, wanted func(*passage.Passage) bool, err error) {
	found, err := l.Passage(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if len(found) > 0 {
		all, err = documentExternal(ctx, l, found[0].Document)
		return all, func(p *passage.Passage) bool { return p.ID == found[0].ID }, err
	}
	for _, t := range targets(name) {
		if all, err = documentExternal(ctx, l, t.key); err != nil {
			return nil, nil, err
		}
		if len(all) > 0 {
			return all, t.in, nil
		}
	}
	return nil, nil, nil
}

func documentExternal(ctx context.Context, l Library, key string) ([]passage.Passage, error) {
	if strings.TrimSpace(key) == "" {
		return nil, nil
	}
	found, err := l.Document(ctx, key)
	if err != nil {
		return nil, err
	}
	passages := make([]passage.Passage, len(found))
	for i := range found {
		p, err := found[i].Passage()
		if err != nil {
			return nil, err
		}
		passages[i] = p
	}
	return passages, nil
}
