package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/docsearch/docsearch/internal/safetext"
)

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A palette holds the escape sequences for emphasis; they are empty if w does
// not support color.
type palette struct{ title, dim, match, end string }

// newPalette returns the palette for w. It is empty unless w is a terminal with
// color support and NO_COLOR is not set (see no-color.org).
func newPalette(w io.Writer) palette {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !enableColors(w.(*os.File)) {
		return palette{}
	}
	return palette{title: "\x1b[1m", dim: "\x1b[2m", match: "\x1b[1;33m", end: "\x1b[0m"}
}

// columns returns the width of the terminal, or a default page width.
func columns(w io.Writer) int {
	const defaultWidth, minWidth = 80, 20
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, minWidth)
		}
	}
	return defaultWidth
}

// newTable returns a table with a line of titles, separated by tabs. The caller must call
// Flush.
func newTable(w io.Writer, titles string) *tabwriter.Writer {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, titles)
	return table
}

// printable makes a line of a document safe to print.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, safetext.Block(s))
}

// wrap breaks a line at the width, between words if possible and never within
// its indentation.
func wrap(line string, width int) []string {
	width = max(width, 1)
	var lines []string
	for utf8.RuneCountInString(line) > width {
		at, used := 0, 0
		for i, r := range line {
			if used++; used > width {
				if r == ' ' || at == 0 {
					at = i
				}
				break
			}
			if r == ' ' && strings.TrimSpace(line[:i]) != "" {
				at = i
			}
		}
		lines = append(lines, strings.TrimRight(line[:at], " "))
		line = strings.TrimLeft(line[at:], " ")
	}
	return append(lines, line)
}
