// Package terminal prints for people at a terminal, in color and page by page, and asks them.
package terminal

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

// Stream returns the stream below a safetext.Writer. It is for the output of programs, and
// for that of docsearch which another process of docsearch reads.
func Stream(w io.Writer) io.Writer {
	if safe, ok := w.(*safetext.Writer); ok {
		return safe.Unwrap()
	}
	return w
}

// terminalOf returns the file of w if it is a terminal.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, ok := Stream(w).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	_, ok := terminalOf(w)
	return ok
}

// A Palette holds the escape sequences for emphasis; they are empty if w does
// not support color.
type Palette struct{ Title, Dim, Match, End string }

// NewPalette returns the palette for w. It is empty unless w is a terminal with
// color support and NO_COLOR is not set (see no-color.org).
func NewPalette(w io.Writer) Palette {
	f, ok := terminalOf(w)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !enableColors(f) {
		return Palette{}
	}
	own := func(s string) string { return s }
	if safe, ok := w.(*safetext.Writer); ok {
		own = safe.Own
	}
	return Palette{Title: own("\x1b[1m"), Dim: own("\x1b[2m"), Match: own("\x1b[1;33m"), End: own("\x1b[0m")}
}

// Columns returns the width of the terminal, or a default page width.
func Columns(w io.Writer) int {
	const defaultWidth, minWidth = 80, 20
	if f, ok := terminalOf(w); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, minWidth)
		}
	}
	return defaultWidth
}

// NewTable returns a table with a line of titles, separated by tabs. The caller must call
// Flush.
func NewTable(w io.Writer, titles string) *tabwriter.Writer {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, titles)
	return table
}

// Wrap breaks a line at the width, between words if possible and never within
// its indentation.
func Wrap(line string, width int) []string {
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
