// Package searching searches databases on this machine and on others, as docsearch search
// does.
package searching

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A Searcher searches databases on this machine and on others.
type Searcher struct {
	Words   []string // exact names and synonyms of the query
	Filter  string
	TopK    int
	Explain bool
	Remotes *served.Remotes // databases of other machines; nil: none is searched
}

// A Result is the result of one database.
type Result struct {
	library.Ref
	index.Result
	explained index.Explanation
	Opaque    bool // a server sent the result without the parts of the scores
	info      index.Info
	Err       error
}

// ErrNone is the error if there are no databases to search.
var ErrNone = usererror.WithHint(errors.New("no databases to search"), "run docsearch setup NAME, for example docsearch setup django")

// Select resolves names and paths to databases. The name of a database that
// another machine holds is an error unless elsewhere is set.
func Select(names, paths []string, elsewhere bool) ([]library.Ref, error) {
	all, err := library.List(config.Locate(os.Getenv))
	if err != nil {
		return nil, err
	}
	args := slices.Clone(names)
	for _, path := range paths {
		if !library.IsPath(path) {
			path = "." + string(filepath.Separator) + path
		}
		args = append(args, path)
	}
	var chosen []library.Ref
	for _, arg := range args {
		d, err := library.Find(all, arg, served.Elsewhere)
		var other *served.ElsewhereError
		if elsewhere && errors.As(err, &other) {
			d, err = other.Ref, nil
		}
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	return chosen, nil
}

// Searchable returns the databases on this machine that docsearch searches here.
func Searchable(l config.Locations) ([]library.Ref, error) {
	all, err := library.List(l)
	if err != nil {
		return nil, err
	}
	// A database that an external tool searches need not have a docsearch index.
	return slices.DeleteFunc(all, func(d library.Ref) bool { return d.Ignored != "" || d.ExternalTool && !library.HasIndex(d.Path) }), nil
}

// Named returns the databases that the query names, or all if it names none.
func Named(chosen []library.Ref, query string) []library.Ref {
	var names [][]string
	for _, d := range chosen {
		names = append(names, d.Aliases)
	}
	var named []library.Ref
	for _, i := range index.Named(query, names) {
		named = append(named, chosen[i])
	}
	if named == nil {
		return chosen
	}
	return named
}

// Query returns the query without the properties of a database.
func (s *Searcher) Query(text string) index.Query {
	return index.Query{Text: text, Keywords: s.Words, TopK: s.TopK, Filter: s.Filter}
}

// SearchAll searches all databases in parallel.
func (s *Searcher) SearchAll(ctx context.Context, chosen []library.Ref, query string) []Result {
	q := s.Query(query)
	q.Embedders = library.ConfiguredEmbedders()
	all := make([]Result, len(chosen))
	var g, others errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	others.Go(func() error {
		s.searchRemotes(ctx, chosen, all, query)
		return nil
	})
	for i, d := range chosen {
		if d.Server != "" {
			continue
		}
		g.Go(func() error {
			all[i].Ref = d
			db, err := index.Open(d.Path)
			if err != nil {
				all[i].Err = err
				return nil
			}
			defer db.Close()
			q := q
			q.Names, q.Version, q.Used, q.URLs = d.Aliases, d.Version, d.Used, d.URLs
			all[i].info = db.Info()
			all[i].Result, all[i].Err = db.Search(ctx, q)
			if all[i].Err == nil && s.Explain {
				all[i].explained, all[i].Err = db.Explain(q, all[i].Result)
			}
			return nil
		})
	}
	g.Wait()
	others.Wait()
	return all
}

// searchRemotes searches the databases of other machines among the chosen ones.
func (s *Searcher) searchRemotes(ctx context.Context, chosen []library.Ref, all []Result, query string) {
	var remote []library.Ref
	for _, d := range chosen {
		if d.Server != "" {
			remote = append(remote, d)
		}
	}
	if len(remote) == 0 {
		return
	}
	found := s.Remotes.Search(ctx, remote, s.Query(query))
	for i, d := range chosen {
		if d.Server == "" {
			continue
		}
		f := found[d.Name]
		all[i] = Result{Ref: d, Result: f.Result, Err: f.Err, Opaque: true}
		if explainer := s.Remotes.Explainer(d); explainer != nil && f.Err == nil && s.Explain {
			all[i].explained, all[i].Err = explainer.Explain(ctx, f.Result)
			all[i].Opaque = false
		}
	}
}

// Source returns where the user finds the hit: its URL, or its file relative to
// the working directory, with the line or the anchor.
func (d Result) Source(p *passage.Passage) string {
	if p.URL != "" || p.Path == "" {
		return p.Locator()
	}
	path := p.Path
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	switch {
	case p.StartLine > 0:
		return fmt.Sprintf("%s:%d", path, p.StartLine)
	case len(p.Anchors) > 0:
		return path + "#" + p.Anchors[0]
	}
	return path
}

// AnyConfident reports whether the result of any database is confident.
func AnyConfident(all []Result) bool {
	return slices.ContainsFunc(all, func(d Result) bool {
		return d.Err == nil && len(d.Hits) > 0 && !d.IsUnlikely()
	})
}

// IsUnlikely reports whether the hits of the database probably do not answer.
func (d Result) IsUnlikely() bool { return d.Confidence < index.Relevant }

// ExplainScore explains the score of a hit. It returns nil if the parts are not known.
func (d Result) ExplainScore(h index.Hit) *ScoreExplanation {
	if d.Opaque {
		return nil
	}
	for i := range d.Hits {
		if d.Hits[i].Number == h.Number {
			e := d.explained.Hits[i]
			terms := e.Terms
			if terms == nil {
				terms = []lexical.Reason{} // found by vectors only, or in a cluster
			}
			return &ScoreExplanation{h.Score, d.Hits[0].Score, e.Parts, terms}
		}
	}
	return nil
}

// ExplainConfidence explains the database's confidence.
func (d Result) ExplainConfidence() *ConfidenceExplanation {
	return &ConfidenceExplanation{d.explained.Probability, d.explained.Threshold, d.explained.Odds}
}
