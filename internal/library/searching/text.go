package searching

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/safetext"
)

const SnippetLines = 5

func LanguageOf(d Result) string {
	var kept library.Options
	if json.Unmarshal(d.info.Options, &kept) != nil {
		return ""
	}
	return lexical.AnalyzerFor(kept.Language, d.info.Language)
}

// Body returns the text of a passage without its leading headings, which are
// printed above it.
func Body(text string) string {
	rest := strings.TrimLeft(text, "\n ")
	for strings.HasPrefix(rest, "#") {
		_, after, found := strings.Cut(rest, "\n")
		if !found {
			return text
		}
		rest = strings.TrimLeft(after, "\n")
	}
	return rest
}

// Highlight highlights the query's words in a line.
func Highlight(line string, words *lexical.Highlighter, c terminal.Palette) string {
	if c.Match == "" {
		return line
	}
	var b strings.Builder
	done := 0
	for _, s := range words.Spans(line) {
		b.WriteString(line[done:s.Start] + c.Match + line[s.Start:s.End] + c.End)
		done = s.End
	}
	return b.String() + line[done:]
}

// Snippet returns the first stretch of at most n lines with the most distinct
// query words.
func Snippet(text string, words *lexical.Highlighter, width, n int) []string {
	var lines []string
	for _, line := range reflow(text) {
		lines = append(lines, terminal.Wrap(line, width)...)
	}
	if len(lines) <= n {
		return lines
	}
	found := make([][]lexical.Span, len(lines))
	for i, line := range lines {
		found[i] = words.Spans(line)
	}
	best, most := 0, -1
	for at := 0; at+n <= len(lines); at++ {
		distinct := map[string]bool{}
		for _, spans := range found[at : at+n] {
			for _, s := range spans {
				distinct[s.Term] = true
			}
		}
		if len(distinct) > most {
			best, most = at, len(distinct)
		}
	}
	return lines[best : best+n]
}

// reflow removes blank lines from a text and joins the lines of paragraphs that
// were hard-wrapped.
func reflow(text string) []string {
	const full = 60 // a shorter line is not wrapped but ends there
	var lines []string
	code, open := false, false // inside code; the last line may be continued
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(safetext.Printable(line), " ")
		if fence := strings.TrimLeft(line, " "); strings.HasPrefix(fence, "```") || strings.HasPrefix(fence, "~~~") {
			code, open = !code, false
			continue
		}
		prose := !code && line != "" && !strings.ContainsRune(" |-*+#>=", rune(line[0]))
		if prose && open {
			lines[len(lines)-1] += " " + line
		} else if line != "" {
			lines = append(lines, line)
		}
		open = utf8.RuneCountInString(line) >= full && (prose || !code && strings.ContainsRune("-*+", rune(line[0])))
	}
	return lines
}
