package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/eval/judge"
)

// print prints the measurements as tables.
func (e *evalCommand) print(out judge.Evaluation) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	if q := out.Queries; q != nil {
		fmt.Fprintln(w, "SET\tLEVEL\tQUERIES\tNDCG@10\tMRR@10\tRECALL@5\tSUCCESS@1\tSUCCESS@5\tP50\tP90\tP99")
		for _, s := range out.Sets {
			if s.Page.Queries > 0 {
				printScores(w, s.Name, s.Scores)
			}
		}
		if len(out.Sets) != 1 {
			printScores(w, "all", *q)
		}
	}
	if out.Identifiers != nil {
		if out.Queries != nil {
			fmt.Fprintln(w) // an empty line ends the columns
		}
		fmt.Fprintln(w, "IDENTIFIERS\tQUERIES\tFULL NAME @1\t@5\tLAST PART @1\t@5\tAS WORDS @1\t@5")
		for _, s := range out.Sets {
			if s.Identifiers != nil {
				printIdentifiers(w, s.Name, s.Identifiers)
			}
		}
		printIdentifiers(w, "all", out.Identifiers)
	}
	if len(out.Confidence) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w,
			"CONFIDENCE\tIN-DOMAIN\tCONFIDENT\tSUCCESS@1\tSUCCESS@5\tOUT-OF-DOMAIN\tCONFIDENT\tPRECISION\tRECALL\tTHRESHOLD")
		for _, c := range out.Confidence {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t", c.Name, c.InDomain, c.Confident, c.SuccessAt1,
				c.SuccessAt5, c.OutOfDomain, c.OutOfDomainConfident, c.Precision, c.Recall)
			if c.Threshold > 0 {
				fmt.Fprintf(w, "%.3f", c.Threshold)
			}
			fmt.Fprintln(w)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(out.Decisions) > 0 {
		printDecisions(w, out.Decisions)
	}
	for _, n := range out.Notes {
		fmt.Fprintf(e.stderr, "docsearch: %s\n", n)
	}
	return w.Flush()
}

func printScores(w io.Writer, name string, s judge.Scores) {
	row := func(level string, m eval.Measures) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f", name, level, m.Queries, m.NDCG10, m.MRR10, m.Recall5,
			m.Success1, m.Success5)
	}
	row("page", s.Page)
	fmt.Fprintf(w, "\t%.2f ms\t%.2f ms\t%.2f ms\n", s.Latency.P50, s.Latency.P90, s.Latency.P99)
	row("section", s.Section)
	fmt.Fprint(w, "\t\t\t\n")
}

func printIdentifiers(w io.Writer, name string, s *judge.IdentifierScores) {
	fmt.Fprintf(w, "%s\t%d", name, s.Full.Queries)
	for _, m := range []eval.Measures{s.Full, s.Last, s.Words} {
		fmt.Fprintf(w, "\t%.3f\t%.3f", m.Success1, m.Success5)
	}
	fmt.Fprintln(w)
}
