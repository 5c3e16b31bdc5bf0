package main

import (
	"fmt"
	"io"
	"strings"
)

// A stepPrinter prints the progress of a command with several steps, for
// reading in a terminal.
type stepPrinter struct {
	out        io.Writer
	look       palette
	width      int // of docsearch's own text
	quoteWidth int
	steps      int
}

func newStepPrinter(out io.Writer) *stepPrinter {
	return &stepPrinter{out: out, look: newPalette(out), width: min(columns(out), 80), quoteWidth: min(columns(out), 110)}
}

func (p *stepPrinter) step(title string) {
	p.steps++
	p.title(fmt.Sprintf("%d. %s", p.steps, title))
}

func (p *stepPrinter) title(text string) {
	fmt.Fprintf(p.out, "\n%s%s%s\n", p.look.title, text, p.look.end)
}

func (p *stepPrinter) text(text string) {
	fmt.Fprintln(p.out)
	for _, line := range wrap(text, p.width) {
		fmt.Fprintln(p.out, line)
	}
}

func (p *stepPrinter) command(line string) {
	fmt.Fprintf(p.out, "\n    %s$ %s%s\n", p.look.match, line, p.look.end)
}

func (p *stepPrinter) webSearch(query string) {
	p.call(fmt.Sprintf(`WebSearch {"query": %q}`, query))
}

func (p *stepPrinter) call(text string) {
	fmt.Fprintln(p.out)
	for _, line := range wrap(text, p.width-4) {
		fmt.Fprintf(p.out, "    %s%s%s\n", p.look.match, line, p.look.end)
	}
}

// quote prints the first lines of a text as a quotation.
func (p *stepPrinter) quote(text string, maxLines int) {
	fmt.Fprintln(p.out)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	shown := lines[:min(maxLines, len(lines))]
	for _, long := range shown {
		for _, line := range wrap(long, p.quoteWidth-6) {
			fmt.Fprintf(p.out, "    %s|%s %s\n", p.look.dim, p.look.end, printable(line))
		}
	}
	if rest := len(lines) - len(shown); rest > 0 {
		fmt.Fprintf(p.out, "    %s| ... %s more%s\n", p.look.dim, count(rest, "line"), p.look.end)
	}
}

// diff prints the changed lines of a file whose name has been printed.
func (p *stepPrinter) diff(text string) {
	fmt.Fprintln(p.out)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") {
			fmt.Fprintf(p.out, "    %s|%s %s\n", p.look.dim, p.look.end, printable(strings.TrimSuffix(line, "\n")))
		}
	}
}
