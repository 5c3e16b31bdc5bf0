package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/eval/judge"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/searching"
	"github.com/docsearch/docsearch/internal/progress"
)

type evalCommand struct {
	*app
	databases                   []string
	queries, qrels, identifiers string
	unscoped, confidence, json  bool
	cluster                     clusterFlags
}

func newEvalCommand(a *app) *cobra.Command {
	e := &evalCommand{app: a}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure search quality with judged queries",
		Long: `Measure search quality and latency with judged queries.

A query file has one JSON object per line, in one of two forms. In the first form,
"ds" is the database name, and each target is a page, an anchor (empty: the whole
page), and a grade (2: answers the query, 1: helps):

  {"id": "q1", "ds": "widgets", "text": "how do I turn one",
   "targets": [["guide/turning.html", "crank", 2], ["faq.html", "", 1]]}

Instead of targets, a query may have "answer": whether the database answers it at all.
The page of docsearch web writes such queries if you mark a decision as wrong.

In the second form, --qrels names a file with the judgments: query, document, and
grade on each line, separated by tabs. A document is a passage id, or the path or
URL of a page.

A query searches the database that it names. A query without a database searches
all databases at once, as the agent does; with --unscoped, every query does.

--identifiers names a file of identifiers to look up, one per line:
{"ds": "widgets", "identifier": "widget.turn", "page": "api.html", "anchor": "widget.turn"}.`,
		Example: `  docsearch eval --queries queries.jsonl
  docsearch eval --queries queries.jsonl --qrels qrels.tsv --db manual --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&e.queries, "queries", "", "read queries from `FILE`")
	f.StringVar(&e.qrels, "qrels", "", "read judgments from `FILE`, for queries without targets")
	f.StringVar(&e.identifiers, "identifiers", "", "read identifiers to look up from `FILE`")
	f.StringArrayVar(&e.databases, "db", nil, "measure the database `NAME` or path (repeatable; default: all)")
	f.BoolVar(&e.unscoped, "unscoped", false, "search all databases with each query")
	f.BoolVar(&e.confidence, "confidence", false,
		"also search each database with the other databases' queries, and count its confident answers")
	e.cluster.add(f, "cluster",
		"search the copies of the databases in the Weaviate cluster with nodes at `URL`, separated by commas")
	f.BoolVar(&e.json, "json", false, "print JSON with the result of each query")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("db", completeDatabases))
	return cmd
}

func (e *evalCommand) run(ctx context.Context) error {
	if e.queries == "" && e.identifiers == "" {
		return withHint(usagef("eval needs --queries or --identifiers"), "run docsearch eval --help to see the file formats")
	}
	var queries []eval.Query
	var identifiers []eval.Identifier
	var err error
	if e.queries != "" {
		if queries, err = eval.ReadJudged(e.queries, e.qrels); err != nil {
			return err
		}
		if len(queries) == 0 {
			return withHint(fmt.Errorf("%s has no judged query", e.queries), "pass --qrels FILE with the judgments")
		}
	}
	if e.identifiers != "" {
		if identifiers, err = eval.ReadIdentifiers(e.identifiers); err != nil {
			return err
		}
	}
	chosen, err := chooseDatabases(e.databases)
	if err != nil {
		return err
	}
	display := progress.New(e.stderr, progress.StyleFor(e.stderr))
	m, err := judge.Open(chosen, judge.Options{Unscoped: e.unscoped, Confidence: e.confidence, Cluster: e.cluster.Options},
		display.Func())
	if err != nil {
		return err
	}
	defer m.Close()
	out, err := m.Measure(ctx, queries, identifiers)
	display.Close()
	if err != nil {
		return err
	}
	if e.json {
		return e.printEscapedJSON(out)
	}
	return e.print(out)
}

// chooseDatabases resolves names to databases on this machine, or returns all databases if
// there are none.
func chooseDatabases(names []string) ([]library.Ref, error) {
	if len(names) > 0 {
		return searching.Select(names, nil, false)
	}
	chosen, err := searching.Searchable(config.Locate(os.Getenv))
	if err == nil && len(chosen) == 0 {
		err = searching.ErrNone
	}
	return chosen, err
}
