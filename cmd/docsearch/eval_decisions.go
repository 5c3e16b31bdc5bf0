package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/docsearch/docsearch/internal/eval/judge"
)

func printDecisions(w io.Writer, all []judge.DecisionScore) {
	fmt.Fprintln(w, "DECISIONS\tSHOULD ANSWER\tANSWERED\tSHOULD NOT ANSWER\tNOT ANSWERED\tRIGHT")
	for _, s := range all {
		n := s.Answerable + s.Others
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d of %d\n", cmp.Or(s.Name, "(all databases)"), s.Answerable, s.Answered,
			s.Others, s.NotAnswered, s.Answered+s.NotAnswered, n)
	}
}
