package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/served"
)

type searchCommand struct {
	*app
	databases, paths []string
	keywords         []string
	filter           string
	topK             int
	json             bool
	explain          bool
	remotes          *served.Remotes // databases of other machines; nil: none is searched
	text             bytes.Buffer    // the results as text
}

func newSearchCommand(a *app) *cobra.Command {
	s := &searchCommand{app: a}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Search databases from the command line",
		Long: `Search databases from the command line, as the agent does. Search prints the
results as text, or as JSON with --json. At a terminal, it highlights matching
words and shows long results in the program that PAGER names.

Search also searches the databases of the team servers and Weaviate clusters in the
config. If one of them does not answer, search reports it and shows the other results.

With --db or --path, search also shows hits that are unlikely to answer.

Keywords improve results more than a longer query: pass names of functions,
commands, and options that the answer probably contains.`,
		Example: `  docsearch search "cache dependencies between jobs"
  docsearch search --db gitlab --keywords cache:key,artifacts "speed up pipelines"
  docsearch search --json --top-k 3 "retry a failed job"`,
		Args: someArguments("a query"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), strings.Join(args, " "))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&s.keywords, "keywords", nil, "add exact names and synonyms to the query as `WORDS`, separated by commas")
	f.StringArrayVar(&s.databases, "db", nil, "search the database `NAME` or path (repeatable; default: all)")
	f.StringArrayVar(&s.paths, "path", nil, "search the database at `PATH` (repeatable)")
	f.StringVar(&s.filter, "filter", "", "search only documents whose URL or path matches `PATTERN` (* and ? are wildcards, a leading ! negates)")
	f.IntVar(&s.topK, "top-k", 0, "return at most `N` results (default 5)")
	f.BoolVar(&s.explain, "explain", false, "show the parts of each score and confidence")
	f.BoolVar(&s.json, "json", false, "print JSON")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("db", completeAnyDatabase))
	return cmd
}

// A databaseResult is the result of one database.
type databaseResult struct {
	library.Ref
	index.Result
	explained index.Explanation
	opaque    bool // a server sent the result without the parts of the scores
	info      index.Info
	err       error
}

func (s *searchCommand) run(ctx context.Context, query string) error {
	if strings.TrimSpace(query) == "" {
		return usagef("invalid query \"\": want at least one word")
	}
	if q := s.query(query); q.Check() != nil {
		return q.Check()
	}
	chosen, err := s.choose(ctx)
	if s.remotes != nil {
		defer s.remotes.Close()
	}
	if err != nil {
		return err
	}
	if len(s.databases)+len(s.paths) == 0 {
		chosen = library.Editions(chosen, query)
	}
	if s.topK == 0 {
		s.topK = config.Default().Search.TopK
	}
	all := s.searchAll(ctx, s.selectNamed(chosen, query), query)
	if len(all) < len(chosen) && !slices.ContainsFunc(all, func(d databaseResult) bool { return d.err == nil && d.Confidence >= index.Doubtful }) {
		all = s.searchAll(ctx, chosen, query)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	results := make([]index.Result, len(all))
	failed := 0
	for i, d := range all {
		if d.err == nil {
			results[i] = d.Result
			continue
		}
		failed++
		if errors.Is(d.err, index.ErrFilter) || len(all) == 1 {
			return d.SearchError(d.err)
		}
		report(s.stderr, d.SearchError(fmt.Errorf("%s: %w", d.Label(), d.err)))
	}
	if failed == len(all) {
		return errors.New("cannot search any database")
	}
	hits := index.Merge(results, s.topK)
	if s.json {
		return s.printJSON(query, all, hits)
	}
	for _, d := range all {
		for _, n := range d.Notes {
			fmt.Fprintf(s.stderr, "docsearch: %s: %s\n", d.Label(), n)
		}
	}
	if err := s.print(query, all, hits); err != nil {
		return err
	}
	return terminal.ShowPaged(s.stdout, s.stderr, s.text.Bytes())
}

// isExplicit reports whether the user chose the databases with flags.
func (s *searchCommand) isExplicit() bool { return len(s.databases)+len(s.paths) > 0 }

// choose returns the databases to search, also those that other machines hold.
func (s *searchCommand) choose(ctx context.Context) ([]library.Ref, error) {
	l := config.Locate(os.Getenv)
	if s.isExplicit() {
		chosen, err := selectDatabases(s.databases, s.paths, true)
		if slices.ContainsFunc(chosen, func(d library.Ref) bool { return d.Server != "" }) {
			s.remotes = served.OpenRemotes(l)
		}
		return chosen, err
	}
	chosen, err := searchableDatabases(l)
	if err != nil {
		return nil, err
	}
	s.remotes = served.OpenRemotes(l)
	for url, err := range s.remotes.Fetch(ctx, true) {
		report(s.stderr, fmt.Errorf("cannot list the databases of %s: %w", url, err))
	}
	for _, d := range s.remotes.Databases() {
		chosen = append(chosen, d.Ref())
	}
	if len(chosen) == 0 {
		return nil, errNoDatabases
	}
	return chosen, nil
}

var errNoDatabases = withHint(errors.New("no databases to search"), "run docsearch setup NAME, for example docsearch setup django")

// selectDatabases resolves names and paths to databases. The name of a database that
// another machine holds is an error unless elsewhere is set.
func selectDatabases(names, paths []string, elsewhere bool) ([]library.Ref, error) {
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
		d, err := findDatabase(all, arg)
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

// searchableDatabases returns the databases on this machine that docsearch searches.
func searchableDatabases(l config.Locations) ([]library.Ref, error) {
	all, err := library.List(l)
	if err != nil {
		return nil, err
	}
	// A database that an external tool searches need not have a docsearch index.
	return slices.DeleteFunc(all, func(d library.Ref) bool { return d.ExternalTool && !library.HasIndex(d.Path) }), nil
}

// selectNamed returns the databases that the query names, or all if it names
// none. It keeps databases that the user chose with flags.
func (s *searchCommand) selectNamed(chosen []library.Ref, query string) []library.Ref {
	if s.isExplicit() {
		return chosen
	}
	names := collect(chosen, func(d library.Ref) []string { return d.Aliases })
	named := collect(index.Named(query, names), func(i int) library.Ref { return chosen[i] })
	if named == nil {
		return chosen
	}
	return named
}

// query returns the query without the properties of a database.
func (s *searchCommand) query(text string) index.Query {
	return index.Query{Text: text, Keywords: s.splitKeywords(), TopK: s.topK, Filter: s.filter}
}

// searchAll searches all databases in parallel.
func (s *searchCommand) searchAll(ctx context.Context, chosen []library.Ref, query string) []databaseResult {
	q := s.query(query)
	q.Embedders = library.ConfiguredEmbedders()
	all := make([]databaseResult, len(chosen))
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
				all[i].err = err
				return nil
			}
			defer db.Close()
			q := q
			q.Names, q.Version, q.Used, q.URLs = d.Aliases, d.Version, d.Used, d.URLs
			all[i].info = db.Info()
			all[i].Result, all[i].err = db.Search(ctx, q)
			if all[i].err == nil && s.explain {
				all[i].explained, all[i].err = db.Explain(q, all[i].Result)
			}
			return nil
		})
	}
	g.Wait()
	others.Wait()
	return all
}

// searchRemotes searches the databases of other machines among the chosen ones.
func (s *searchCommand) searchRemotes(ctx context.Context, chosen []library.Ref, all []databaseResult, query string) {
	var remote []library.Ref
	for _, d := range chosen {
		if d.Server != "" {
			remote = append(remote, d)
		}
	}
	if len(remote) == 0 {
		return
	}
	found := s.remotes.Search(ctx, remote, s.query(query))
	for i, d := range chosen {
		if d.Server == "" {
			continue
		}
		f := found[d.Name]
		all[i] = databaseResult{Ref: d, Result: f.Result, err: f.Err, opaque: true}
		if explainer := s.remotes.Explainer(d); explainer != nil && f.Err == nil && s.explain {
			all[i].explained, all[i].err = explainer.Explain(ctx, f.Result)
			all[i].opaque = false
		}
	}
}

func (s *searchCommand) splitKeywords() []string {
	var keywords []string
	for _, list := range s.keywords {
		keywords = append(keywords, splitList(list)...)
	}
	return keywords
}

// source returns where the user finds the hit: its URL, or its file relative to
// the working directory, with the line or the anchor.
func (d databaseResult) source(p *passage.Passage) string {
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

// A hitJSON is the JSON form of a hit.
type hitJSON struct {
	Rank      int               `json:"rank"`
	Score     float64           `json:"score"`
	Database  string            `json:"database"`
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Headings  []string          `json:"headings"`
	Source    string            `json:"source"` // URL, or file and line
	URL       string            `json:"url,omitempty"`
	Path      string            `json:"path,omitempty"`
	StartLine int               `json:"start_line,omitempty"`
	EndLine   int               `json:"end_line,omitempty"`
	Anchors   []string          `json:"anchors,omitempty"` // URL fragments within the passage
	Kind      string            `json:"kind,omitempty"`    // of the document, unless it is regular documentation
	Flags     []string          `json:"flags,omitempty"`   // reasons to read it with care
	Unlikely  bool              `json:"unlikely,omitempty"`
	Text      string            `json:"text"`
	Explain   *scoreExplanation `json:"explain,omitempty"`
}

type databaseResultJSON struct {
	Name       string                 `json:"name"`
	Path       string                 `json:"path,omitempty"`
	Server     string                 `json:"server,omitempty"` // URL of the server or cluster, instead of the path
	Confidence float64                `json:"confidence"`
	Confident  bool                   `json:"confident"`
	Notes      []string               `json:"notes,omitempty"`
	Error      string                 `json:"error,omitempty"`
	Explain    *confidenceExplanation `json:"explain,omitempty"`
}

func (s *searchCommand) printJSON(query string, all []databaseResult, hits []index.Merged) error {
	out := struct {
		Query     string               `json:"query"`
		Relevant  bool                 `json:"relevant"`
		Hits      []hitJSON            `json:"hits"`
		Databases []databaseResultJSON `json:"databases"`
	}{Query: query, Relevant: anyConfident(all), Hits: []hitJSON{}}
	for i, h := range hits {
		d := all[h.From]
		hit := hitJSON{
			Rank: i + 1, Score: h.Relevance, Database: d.Name, ID: h.ID, Title: h.Name(), Headings: append([]string{}, h.Headings...),
			Source: d.source(&h.Passage), URL: h.URL, Path: h.Path,
			StartLine: h.StartLine, EndLine: h.EndLine, Anchors: h.Anchors, Kind: h.Kind(), Flags: h.Flags(), Text: h.Text,
			Unlikely: d.isUnlikely(),
		}
		if s.explain {
			hit.Explain = d.explainScore(h.Hit)
		}
		out.Hits = append(out.Hits, hit)
	}
	for _, d := range all {
		j := databaseResultJSON{Name: d.Name, Path: d.Path, Server: d.Server, Confidence: d.Confidence, Confident: d.Confident, Notes: d.Notes}
		if d.err != nil {
			j.Error = d.err.Error()
		} else if s.explain && !d.opaque {
			j.Explain = d.explainConfidence()
		}
		out.Databases = append(out.Databases, j)
	}
	return s.app.printJSON(out)
}

// anyConfident reports whether the result of any database is confident.
func anyConfident(all []databaseResult) bool {
	return slices.ContainsFunc(all, func(d databaseResult) bool {
		return d.err == nil && len(d.Hits) > 0 && !d.isUnlikely()
	})
}

// isUnlikely reports whether the hits of the database probably do not answer.
func (d databaseResult) isUnlikely() bool { return d.Confidence < index.Relevant }
