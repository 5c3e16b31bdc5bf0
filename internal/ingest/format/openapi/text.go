package openapi

import (
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// markdown writes a description, which is Markdown. Its headings begin sections
// from that level down; with level 0, they are emphasized text.
func (r *reader) markdown(n *yaml.Node, level int) {
	n, _ = r.resolve(n)
	text := scalar(n)
	if text == "" || !r.spend(len(text)) {
		return
	}
	from, step := n.Line, 0
	if n.Style&yaml.LiteralStyle != 0 && from > 0 {
		from, step = from+1, 1
	}
	if plain := withoutHTML(text); plain != text {
		text, step = plain, 0
	}
	var block []mdwriter.Line
	flush := func() {
		r.w.Block(block...)
		block = nil
	}
	fence := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), mark[:1]) == "":
			fence = ""
		case fence != "":
		case strings.TrimSpace(line) == "":
			flush()
			from += step
			continue
		default:
			if depth, heading := headingOf(line); depth > 0 {
				flush()
				r.heading(heading, depth, level, from)
				from += step
				continue
			}
			if underlined := strings.TrimSpace(line); strings.Trim(underlined, "=") == "" || strings.Trim(underlined, "-") == "" {
				line = mdwriter.Escape(line) // the line above is not a heading of ours
			}
		}
		block = append(block, mdwriter.Line{Text: line, From: from})
		from += step
	}
	if fence != "" {
		block = append(block, mdwriter.Line{Text: fence, From: from})
	}
	flush()
}

// heading writes a heading of a description.
func (r *reader) heading(text string, depth, level, from int) {
	if level == 0 {
		r.w.Text("**"+text+"**", from)
		return
	}
	r.w.Heading(level+depth-1, mdwriter.Plain(text), from)
	r.w.Anchor(strings.ToLower(anchor(mdwriter.Plain(text))))
}

// fenceOf returns the marker of a line that begins or ends a code block.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range [...]byte{'`', '~'} {
		n := 0
		for n < len(line) && line[n] == c {
			n++
		}
		if n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// headingOf returns the level and the text of a heading; level 0 for another
// line.
func headingOf(line string) (level int, text string) {
	const deepest = 6
	t := strings.TrimSpace(line)
	rest := strings.TrimLeft(t, "#")
	level = len(t) - len(rest)
	text = strings.TrimSpace(strings.TrimRight(rest, "# "))
	if level == 0 || level > deepest || text == "" || rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, text
}

// htmlTag matches the tags that descriptions use as markup.
var htmlTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</(?:p|li|ul|ol|b|i|a|code|pre|table|strong|em|h[1-6]|div|span)>|<br ?/?>`)
})

// withoutHTML converts a description in HTML to text. It returns others
// unchanged: placeholders such as <id> are not HTML.
func withoutHTML(s string) string {
	if !strings.Contains(s, "<") || strings.Contains(s, "```") || !htmlTag().MatchString(s) {
		return s
	}
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.TextToken:
			b.Write(z.Text())
		default:
			if name, _ := z.TagName(); kind != html.EndTagToken || string(name) != "li" {
				b.WriteString(replacement(string(name)))
			}
		}
	}
}

// replacement returns the text for a tag of HTML.
func replacement(tag string) string {
	switch tag {
	case "code":
		return "`"
	case "li":
		return "\n- "
	case "p", "ul", "ol", "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "div":
		return "\n\n"
	case "br", "tr":
		return "\n"
	case "td", "th":
		return " "
	}
	return ""
}
