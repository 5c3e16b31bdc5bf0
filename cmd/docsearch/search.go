package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/searching"
	"github.com/docsearch/docsearch/internal/library/served"
)

type searchCommand struct {
	*app
	searching.Searcher
	databases, paths []string
	keywords         []string
	json             bool
	text             bytes.Buffer // the results as text
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
	f.StringArrayVar(&s.keywords, "keywords", nil,
		"add exact names and synonyms to the query as `WORDS`, separated by commas")
	f.StringArrayVar(&s.databases, "db", nil, "search the database `NAME` or path (repeatable; default: all)")
	f.StringArrayVar(&s.paths, "path", nil, "search the database at `PATH` (repeatable)")
	f.StringVar(&s.Filter, "filter", "",
		"search only documents whose URL or path matches `PATTERN` (* and ? are wildcards, a leading ! negates)")
	f.IntVar(&s.TopK, "top-k", 0, "return at most `N` results (default 5)")
	f.BoolVar(&s.Explain, "explain", false, "show the parts of each score and confidence")
	f.BoolVar(&s.json, "json", false, "print JSON")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("db", completeAnyDatabase))
	return cmd
}

func (s *searchCommand) run(ctx context.Context, query string) error {
	if strings.TrimSpace(query) == "" {
		return usagef("invalid query \"\": want at least one word")
	}
	for _, list := range s.keywords {
		s.Words = append(s.Words, humanize.SplitList(list)...)
	}
	if q := s.Query(query); q.Check() != nil {
		return q.Check()
	}
	chosen, err := s.choose(ctx)
	if s.Remotes != nil {
		defer s.Remotes.Close()
	}
	if err != nil {
		return err
	}
	if len(s.databases)+len(s.paths) == 0 {
		chosen = library.Editions(chosen, query)
	}
	if s.TopK == 0 {
		s.TopK = config.Default().Search.TopK
	}
	named := chosen
	if !s.isExplicit() {
		named = searching.Named(chosen, query)
	}
	all := s.SearchAll(ctx, named, query)
	if len(all) < len(chosen) &&
		!slices.ContainsFunc(all, func(d searching.Result) bool { return d.Err == nil && d.Confidence >= index.Doubtful }) {
		all = s.SearchAll(ctx, chosen, query)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	results := make([]index.Result, len(all))
	failed := 0
	for i, d := range all {
		if d.Err == nil {
			results[i] = d.Result
			continue
		}
		failed++
		if errors.Is(d.Err, index.ErrFilter) || len(all) == 1 {
			return d.SearchError(d.Err)
		}
		report(s.stderr, d.SearchError(fmt.Errorf("%s: %w", d.Label(), d.Err)))
	}
	if failed == len(all) {
		return errors.New("cannot search any database")
	}
	hits := index.Merge(results, s.TopK)
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
		chosen, err := searching.Select(s.databases, s.paths, true)
		if slices.ContainsFunc(chosen, func(d library.Ref) bool { return d.Server != "" }) {
			s.Remotes = served.OpenRemotes(l)
		}
		return chosen, err
	}
	chosen, err := searching.Searchable(l)
	if err != nil {
		return nil, err
	}
	s.Remotes = served.OpenRemotes(l)
	for url, err := range s.Remotes.Fetch(ctx, true) {
		report(s.stderr, fmt.Errorf("cannot list the databases of %s: %w", url, err))
	}
	for _, d := range s.Remotes.Databases() {
		if d.Ignored == "" {
			chosen = append(chosen, d.Ref())
		}
	}
	if len(chosen) == 0 {
		return nil, searching.ErrNone
	}
	return chosen, nil
}

// A hitJSON is the JSON form of a hit.
type hitJSON struct {
	Rank      int                         `json:"rank"`
	Score     float64                     `json:"score"`
	Database  string                      `json:"database"`
	ID        string                      `json:"id"`
	Title     string                      `json:"title"`
	Headings  []string                    `json:"headings"`
	Source    string                      `json:"source"` // URL, or file and line
	URL       string                      `json:"url,omitempty"`
	Path      string                      `json:"path,omitempty"`
	StartLine int                         `json:"start_line,omitempty"`
	EndLine   int                         `json:"end_line,omitempty"`
	Anchors   []string                    `json:"anchors,omitempty"` // URL fragments within the passage
	Kind      string                      `json:"kind,omitempty"`    // of the document, unless it is regular documentation
	Flags     []string                    `json:"flags,omitempty"`   // reasons to read it with care
	Unlikely  bool                        `json:"unlikely,omitempty"`
	Text      string                      `json:"text"`
	Explain   *searching.ScoreExplanation `json:"explain,omitempty"`
}

type databaseResultJSON struct {
	Name       string                           `json:"name"`
	Path       string                           `json:"path,omitempty"`
	Server     string                           `json:"server,omitempty"` // URL, instead of the path
	Confidence float64                          `json:"confidence"`
	Confident  bool                             `json:"confident"`
	Notes      []string                         `json:"notes,omitempty"`
	Error      string                           `json:"error,omitempty"`
	Explain    *searching.ConfidenceExplanation `json:"explain,omitempty"`
}

func (s *searchCommand) printJSON(query string, all []searching.Result, hits []index.Merged) error {
	out := struct {
		Query     string               `json:"query"`
		Relevant  bool                 `json:"relevant"`
		Hits      []hitJSON            `json:"hits"`
		Databases []databaseResultJSON `json:"databases"`
	}{Query: query, Relevant: searching.AnyConfident(all), Hits: []hitJSON{}}
	for i, h := range hits {
		d := all[h.From]
		hit := hitJSON{
			Rank: i + 1, Score: h.Relevance, Database: d.Name, ID: h.ID, Title: h.Name(),
			Headings: append([]string{}, h.Headings...),
			Source:   d.Source(&h.Passage), URL: h.URL, Path: h.Path,
			StartLine: h.StartLine, EndLine: h.EndLine, Anchors: h.Anchors, Kind: h.Kind(), Flags: h.Flags(), Text: h.Text,
			Unlikely: d.IsUnlikely(),
		}
		if s.Explain {
			hit.Explain = d.ExplainScore(h.Hit)
		}
		out.Hits = append(out.Hits, hit)
	}
	for _, d := range all {
		j := databaseResultJSON{Name: d.Name, Path: d.Path, Server: d.Server, Confidence: d.Confidence,
			Confident: d.Confident, Notes: d.Notes}
		if d.Err != nil {
			j.Error = d.Err.Error()
		} else if s.Explain && !d.Opaque {
			j.Explain = d.ExplainConfidence()
		}
		out.Databases = append(out.Databases, j)
	}
	return s.app.printJSON(out)
}
