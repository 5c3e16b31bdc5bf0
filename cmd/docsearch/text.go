package main

import (
	"io"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Short names of the functions that nearly every command uses.

func count(n int, thing string) string { return humanize.Count(n, thing) }

func thousands(n int) string { return humanize.Thousands(n) }

func size(n int64) string { return humanize.Size(n) }

func age(d time.Duration) string { return humanize.Age(d) }

func quoteArgument(s string) string { return humanize.Argument(s) }

func printable(s string) string { return safetext.Printable(s) }

func userMessage(err error) string { return usererror.Message(err) }

func usagef(format string, args ...any) error { return usererror.Invalidf(format, args...) }

func withHint(err error, format string, args ...any) error {
	return usererror.WithHint(err, format, args...)
}

func truncate(s string, width int) string { return humanize.Truncate(s, width) }

func (a *app) write(b *strings.Builder) error {
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// collect returns the results of f for the elements of a list.
func collect[E, R any](list []E, f func(E) R) []R {
	var all []R
	for _, e := range list {
		all = append(all, f(e))
	}
	return all
}
