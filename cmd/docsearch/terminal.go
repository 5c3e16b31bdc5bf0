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

// stream returns the stream below a safetext.Writer. It is for the output of programs, and
// for that of docsearch which another process of docsearch reads.
func stream(w io.Writer) io.Writer {
	if safe, ok := w.(*safetext.Writer); ok {
		return safe.Unwrap()
	}
	return w
}

// terminalOf returns the file of w if it is a terminal.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, ok := stream(w).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	_, ok := terminalOf(w)
	return ok
}

// A palette holds the escape sequences for emphasis; they are empty if w does
// not support color.
type palette struct{ title, dim, match, end string }

// newPalette returns the palette for w. It is empty unless w is a terminal with
// color support and NO_COLOR is not set (see no-color.org).
func newPalette(w io.Writer) palette {
	f, ok := terminalOf(w)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !enableColors(f) {
		return palette{}
	}
	own := func(s string) string { return s }
	if safe, ok := w.(*safetext.Writer); ok {
		own = safe.Own
	}
	return palette{title: own("\x1b[1m"), dim: own("\x1b[2m"), match: own("\x1b[1;33m"), end: own("\x1b[0m")}
}

// columns returns the width of the terminal, or a default page width.
func columns(w io.Writer) int {
	const defaultWidth, minWidth = 80, 20
	if f, ok := terminalOf(w); ok {
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
