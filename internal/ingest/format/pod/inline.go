package pod

import (
	"html"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// maxNested limits the nesting of formatting codes.
const maxNested = 20

// inline returns a paragraph with its formatting codes as Markdown.
func (p *parser) inline(text string) string {
	const longest = 64 << 10 // no paragraph of documentation
	if len(text) > longest {
		return text
	}
	out, _ := p.codes(text, "", 0, false)
	return strings.TrimSpace(out)
}

// codes converts a text up to the closing delimiter and returns the rest behind it. In code,
// codes within have only their text.
func (p *parser) codes(text, closing string, depth int, inCode bool) (out, rest string) {
	var b strings.Builder
	for text != "" {
		if closing != "" && strings.HasPrefix(text, closing) {
			return b.String(), text[len(closing):]
		}
		c := text[0]
		if len(text) < 2 || text[1] != '<' || c < 'A' || c > 'Z' || depth >= maxNested {
			b.WriteByte(c)
			text = text[1:]
			continue
		}
		n := 1
		for 1+n < len(text) && text[1+n] == '<' {
			n++
		}
		inner, end := text[1+n:], strings.Repeat(">", n)
		if n > 1 {
			if inner == "" || strings.IndexByte(" \t\n", inner[0]) < 0 { // "C<<" needs white space
				n, inner, end = 1, text[2:], ">"
			} else {
				end = " " + end
				if i := strings.Index(inner, end); i < 0 {
					if i = strings.Index(inner, "\n"+end[1:]); i >= 0 {
						end = "\n" + end[1:]
					}
				}
			}
		}
		var content string
		content, text = p.codes(inner, end, depth+1, inCode || c == 'C')
		b.WriteString(p.formatted(c, content, inCode))
	}
	return b.String(), ""
}

// formatted returns a formatting code as Markdown.
func (p *parser) formatted(c byte, content string, inCode bool) string {
	switch c {
	case 'C':
		if inCode || strings.TrimSpace(content) == "" {
			return content
		}
		return mdwriter.CodeSpan(strings.Join(strings.Fields(content), " "))
	case 'E':
		switch n, err := strconv.ParseInt(content, 0, 32); {
		case err == nil:
			return string(rune(n))
		case content == "verbar":
			return "|"
		case content == "sol":
			return "/"
		}
		if char := html.UnescapeString("&" + content + ";"); char != "&"+content+";" {
			return char
		}
		return content
	case 'L':
		return linkText(content)
	case 'X':
		p.terms = append(p.terms, content)
		return ""
	case 'Z':
		return ""
	}
	return content
}

// linkText returns the text of a link: "text|target", "page/section", "/section", a page or
// an address.
func linkText(link string) string {
	if text, _, ok := strings.Cut(link, "|"); ok {
		return text
	}
	if strings.Contains(link, "://") {
		return link
	}
	page, section, ok := strings.Cut(link, "/")
	section = strings.Trim(section, `"`)
	switch {
	case !ok:
		return page
	case page == "":
		return `"` + section + `"`
	default:
		return `"` + section + `" in ` + page
	}
}
