package main

import (
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
)

// Short names of the formats that nearly every command uses.

func count(n int, thing string) string { return humanize.Count(n, thing) }

func thousands(n int) string { return humanize.Thousands(n) }

func size(n int64) string { return humanize.Size(n) }

func age(d time.Duration) string { return humanize.Age(d) }

func quoteArgument(s string) string { return humanize.Argument(s) }

// collect returns the results of f for the elements of a list.
func collect[E, R any](list []E, f func(E) R) []R {
	var all []R
	for _, e := range list {
		all = append(all, f(e))
	}
	return all
}
