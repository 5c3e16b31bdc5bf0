package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Steps prints the progress of a command with several steps, for reading in a terminal.
type Steps struct {
	out        io.Writer
	look       Palette
	width      int // of docsearch's own text
	quoteWidth int
	Number     int // of the last step
}

// NewSteps returns Steps that print to out.
func NewSteps(out io.Writer) *Steps {
	return &Steps{out: out, look: NewPalette(out), width: min(Columns(out), 80), quoteWidth: min(Columns(out), 110)}
}

// Step prints the title of the next step.
func (p *Steps) Step(title string) {
	p.Number++
	p.Title(fmt.Sprintf("%d. %s", p.Number, title))
}

// Title prints a title without a number.
func (p *Steps) Title(text string) {
	fmt.Fprintf(p.out, "\n%s%s%s\n", p.look.Title, text, p.look.End)
}

// Text prints a paragraph.
func (p *Steps) Text(text string) {
	fmt.Fprintln(p.out)
	for _, line := range Wrap(text, p.width) {
		fmt.Fprintln(p.out, line)
	}
}

// Command prints a command line.
func (p *Steps) Command(line string) {
	fmt.Fprintf(p.out, "\n    %s$ %s%s\n", p.look.Match, line, p.look.End)
}

// WebSearch prints the call of a web search.
func (p *Steps) WebSearch(query string) {
	p.Call(fmt.Sprintf(`WebSearch {"query": %q}`, query))
}

// Call prints a tool call.
func (p *Steps) Call(text string) {
	fmt.Fprintln(p.out)
	for _, line := range Wrap(text, p.width-4) {
		fmt.Fprintf(p.out, "    %s%s%s\n", p.look.Match, line, p.look.End)
	}
}

// Quote prints the first lines of a text as a quotation. The end of a line that is too long goes
// on the next line if that continues the sentence, or on a line with the indentation of the text.
func (p *Steps) Quote(text string, maxLines int) {
	fmt.Fprintln(p.out)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	shown := lines[:min(maxLines, len(lines))]
	for i, long := range shown {
		indent := strings.Repeat(" ", textColumn(long))
		wrapped := Wrap(long, p.quoteWidth-6)
		if len(wrapped) > 1 {
			rest := strings.TrimLeft(long[len(wrapped[0]):], " ")
			wrapped = append(wrapped[:1], Wrap(rest, p.quoteWidth-6-len(indent))...)
		}
		if last := len(wrapped) - 1; last > 0 && i+1 < len(shown) && continues(shown[i+1]) {
			text := strings.TrimLeft(shown[i+1], " ")
			shown[i+1] = shown[i+1][:len(shown[i+1])-len(text)] + wrapped[last] + " " + text
			wrapped = wrapped[:last]
		}
		for n, line := range wrapped {
			if n > 0 {
				line = indent + line
			}
			fmt.Fprintf(p.out, "    %s|%s %s\n", p.look.Dim, p.look.End, safetext.Printable(line))
		}
	}
	if rest := len(lines) - len(shown); rest > 0 {
		fmt.Fprintf(p.out, "    %s| ... %s more%s\n", p.look.Dim, humanize.Count(rest, "line"), p.look.End)
	}
}

// textColumn returns where the text of a line begins: after its indentation, and after the mark of
// a list item.
func textColumn(line string) int {
	text := strings.TrimLeft(line, " ")
	if item, found := strings.CutPrefix(text, "- "); found {
		text = item
	}
	return len(line) - len(text)
}

// continues reports whether a line continues the sentence of the line above it.
func continues(line string) bool {
	line = strings.TrimLeft(line, " ")
	return line != "" && line[0] >= 'a' && line[0] <= 'z' || strings.HasPrefix(line, "`") && !strings.HasPrefix(line, "```")
}

// Diff prints the changed lines of a file whose name has been printed.
func (p *Steps) Diff(text string) {
	fmt.Fprintln(p.out)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") {
			fmt.Fprintf(p.out, "    %s|%s %s\n", p.look.Dim, p.look.End,
				safetext.Printable(strings.TrimSuffix(line, "\n")))
		}
	}
}
