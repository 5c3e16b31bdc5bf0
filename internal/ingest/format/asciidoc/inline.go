package asciidoc

import (
	"cmp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// inline converts the text of a paragraph to Markdown. It keeps its lines.
func (p *parser) inline(s string) string {
	s = p.substitute(s)
	if !strings.ContainsAny(s, "`*_#+[<(\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if text, n := p.span(s, i); n > 0 {
			b.WriteString(text)
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// maxMarkup limits the search for the end of markup.
const maxMarkup = 500

// span parses the markup that begins at s[i]. It returns the Markdown and the
// length of the markup, 0 if there is none.
func (p *parser) span(s string, i int) (string, int) {
	rest := s[i:]
	switch c := rest[0]; c {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("`*_#+{<[(\\:", rest[1]) >= 0 {
			return rest[1:2], 2
		}
	case '`':
		return codeSpan(s, i)
	case '+', '*', '_', '#':
		return p.marked(s, i)
	case '<':
		return p.crossReference(rest)
	case '{': // a link to a URL that begins with an unknown attribute
		if m := unknownURL().FindString(window(rest)); m != "" {
			if text, n := bracketed(rest[len(m):]); n > 0 && text != "" {
				return linked(text, m), len(m) + n
			}
		}
	case '(':
		return p.indexTerm(rest)
	case '[':
		// A prefix of formatted text: [.role]#text#, or an anchor.
		if m := role().FindString(window(rest)); m != "" && !wordBefore(s, i) {
			return "", len(m) - 1
		}
		if m := inlineAnchor().FindStringSubmatch(window(rest)); m != nil {
			p.w.Anchor(m[1])
			return "", len(m[0])
		}
	default:
		if c >= 'a' && c <= 'z' && !wordBefore(s, i) {
			return p.macro(rest)
		}
	}
	return "", 0
}

// codeSpan parses code between backquotes.
func codeSpan(s string, i int) (string, int) {
	rest := s[i:]
	if text, n := textBetween(s, i, "``"); n > 0 {
		return mdwriter.CodeSpan(text), n
	}
	// The older syntax quotes 'so' and `so'.
	if end := strings.IndexAny(window(rest[1:]), "`'") + 1; end > 1 && rest[end] == '\'' && rest[end-1] != ' ' &&
		!wordAfter(rest[end+1:]) && !wordBefore(s, i) {
		return "'" + rest[1:end] + "'", end + 1
	}
	if text, n := textBetween(s, i, "`"); n > 0 {
		return mdwriter.CodeSpan(strings.Trim(text, "+")), n
	}
	return "", 0
}

// marked parses text between marks: bold, italic, highlighted, or passthrough,
// which between single marks is code.
func (p *parser) marked(s string, i int) (string, int) {
	mark := s[i : i+1]
	most := 2
	if mark == "+" {
		most = 3
	}
	for times := most; times > 0; times-- {
		text, n := textBetween(s, i, strings.Repeat(mark, times))
		if n == 0 {
			continue
		}
		switch mark {
		case "*":
			text = "**" + p.nested(text) + "**"
		case "_":
			text = "*" + p.nested(text) + "*"
		case "+":
			if times == 1 {
				text = mdwriter.CodeSpan(text)
			}
		}
		return text, n
	}
	return "", 0
}

// crossReference parses <<target,text>>.
func (p *parser) crossReference(rest string) (string, int) {
	end := strings.Index(window(rest), ">>")
	if !strings.HasPrefix(rest, "<<") || end <= 2 {
		return "", 0
	}
	target, text, ok := strings.Cut(rest[2:end], ",")
	if !ok {
		text = target[strings.LastIndexAny(target, "#_")+1:]
	}
	p.link(target, text)
	return strings.TrimSpace(text), end + 2
}

// indexTerm parses an index term: ((visible)), or (((not, visible))).
func (p *parser) indexTerm(rest string) (string, int) {
	if strings.HasPrefix(rest, "(((") {
		if end := strings.Index(window(rest), ")))"); end > 3 {
			p.w.Term(strings.ReplaceAll(rest[3:end], ",", ""))
			return "", end + 3
		}
	}
	if strings.HasPrefix(rest, "((") {
		if end := strings.Index(window(rest), "))"); end > 2 {
			p.w.Term(rest[2:end])
			return rest[2:end], end + 2
		}
	}
	return "", 0
}

var (
	role         = document.Lazily(`^\[[.#%\w-]{1,60}\](?:[#*_` + "`" + `])`)
	inlineAnchor = document.Lazily(`^\[\[([\w:.-]+)(?:,[^\]]*)?\]\]`)
	macroHead    = document.Lazily(`^([a-z][a-z0-9_-]{1,20}):([^\s\[\]]*)\[`)
	unknownURL   = document.Lazily(`^\{[\w-]+\}[^\s\[\]{}]*`)
	urlHead      = document.Lazily(`^(?:https?|ftp|irc|mailto):[^\s\[\]<>]+`)
)

func window(s string) string { return s[:min(len(s), maxMarkup)] }

func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return i > 0 && isWordRune(r)
}

func wordAfter(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && isWordRune(r)
}

// textBetween returns the text between two marks. A single mark must be at a word
// boundary on the outside; no mark may have a space on the inside.
func textBetween(s string, i int, mark string) (string, int) {
	rest := s[i:]
	n := len(mark)
	if !strings.HasPrefix(rest, mark) || len(rest) <= 2*n || rest[n] == ' ' || rest[n] == '\n' ||
		n == 1 && (rest[1] == mark[0] || wordBefore(s, i)) {
		return "", 0
	}
	w := window(rest)
	for from := n; from < len(w); {
		end := strings.Index(w[from:], mark)
		if end < 0 {
			return "", 0
		}
		end += from
		after, size := utf8.DecodeRuneInString(rest[end+n:])
		if inner := rest[end-1]; end > n && inner != ' ' && inner != '\n' &&
			(n > 1 || size == 0 || !isWordRune(after) && after != rune(mark[0])) {
			if strings.Contains(rest[n:end], "\n\n") {
				return "", 0
			}
			return rest[n:end], end + n
		}
		from = end + 1
	}
	return "", 0
}

// nested converts markup within markup, one level deep.
func (p *parser) nested(s string) string {
	if len(s) > 2 && s[0] == '`' && s[len(s)-1] == '`' {
		return mdwriter.CodeSpan(strings.Trim(s, "`+"))
	}
	return withoutMarks().Replace(s)
}

var withoutMarks = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("`", "", "+", "") })

// macro parses name:target[text] and URLs with a text.
func (p *parser) macro(s string) (string, int) {
	if m := urlHead().FindString(window(s)); m != "" {
		text, n := bracketed(s[len(m):])
		if n == 0 {
			return m, len(m)
		}
		return linked(text, m), len(m) + n
	}
	m := macroHead().FindStringSubmatch(window(s))
	if m == nil {
		return "", 0
	}
	text, n := bracketed(s[len(m[0])-1:])
	if n == 0 {
		return "", 0
	}
	n += len(m[0]) - 1
	name, target := m[1], m[2]
	switch name {
	case "link":
		return linked(text, target), n
	case "xref":
		p.link(target, text)
		text = cmp.Or(text, target[strings.LastIndexAny(target, "#/_")+1:])
		return text, n
	case "image":
		return imageText(text), n
	case "icon", "anchor", "indexterm", "counter", "toc", "video":
		switch name {
		case "anchor":
			p.w.Anchor(target)
		case "indexterm":
			p.w.Term(strings.ReplaceAll(text, ",", ""))
		}
		return "", n
	case "footnote", "footnoteref":
		return " (" + text + ")", n
	case "menu":
		return strings.TrimSuffix(target+" > "+text, " > "), n
	case "stem", "latexmath", "asciimath":
		return "$" + text + "$", n
	case "kbd":
		return strings.ReplaceAll(text, ",", "+"), n
	case "btn", "pass", "indexterm2":
		return text, n
	}
	if target == "" || target[0] == ':' {
		return "", 0
	}
	return unknownMacro(target, text), n
}

// unknownMacro returns the text of a macro of an extension: its text if it has one, else its
// target.
func unknownMacro(target, text string) string {
	switch {
	case text == "":
		return shownTarget(target)
	case strings.Trim(text, "0123456789") == "": // linkgit:git-add[1]
		return target + "(" + text + ")"
	case !onlyAttributes(text):
		return text
	}
	if label := attributeOf(text, "text", "title"); label != "" {
		return label + " (" + target + ")"
	}
	return shownTarget(target)
}

// imageText returns the text of an image with these attributes.
func imageText(attributes string) string {
	if onlyAttributes(attributes) {
		return mdwriter.Image(attributeOf(attributes, "alt"))
	}
	return mdwriter.Image(strings.Trim(splitAttributes(attributes)[0], `"`))
}

// onlyAttributes reports whether the text of an unknown macro only has named attributes:
// format=annotation.
func onlyAttributes(text string) bool { return namedAttributes().MatchString(text) }

var (
	namedAttributes = document.Lazily(`^\s*[\w-]+=(?:"[^"]*"|'[^']*'|[^,\s]*)(?:,\s*(?:[\w-]+=(?:"[^"]*"|'[^']*'|[^,\s]*)|[%.#][\w%.#-]+))*\s*$`)
	quotedName      = document.Lazily(`^[\w$.]+\.([A-Z][\w$]*(?:[#.][\w$()]+)?)$`)
)

// attributeOf returns the value of the first of the attributes that the text has.
func attributeOf(text string, names ...string) string {
	for _, name := range names {
		for part := range strings.SplitSeq(text, ",") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(part), name+"="); ok {
				return strings.Trim(value, `"'`)
			}
		}
	}
	return ""
}

// shownTarget returns the text for the target of an unknown macro: the class of a qualified
// name of Java, else all of it.
func shownTarget(target string) string {
	if m := quotedName().FindStringSubmatch(target); m != nil {
		return mdwriter.CodeSpan(strings.ReplaceAll(m[1], "$", "."))
	}
	return target
}

// linked returns the text of a link.
func linked(text, target string) string {
	if onlyAttributes(text) {
		return target
	}
	if at := strings.LastIndexByte(text, ','); at > 0 && onlyAttributes(text[at+1:]) {
		return linked(text[:at], target)
	}
	text = strings.Trim(strings.TrimSuffix(text, "^"), `"`)
	return cmp.Or(text, target)
}

// bracketed parses text in brackets at the beginning of s.
func bracketed(s string) (string, int) {
	if !strings.HasPrefix(s, "[") {
		return "", 0
	}
	w := window(s)
	for i := 1; i < len(w); i++ {
		switch w[i] {
		case '\\':
			i++
		case ']':
			return strings.ReplaceAll(s[1:i], `\]`, "]"), i + 1
		}
	}
	return "", 0
}

// link adds a link of the section.
func (p *parser) link(target, text string) {
	file, fragment, _ := strings.Cut(target, "#")
	if !strings.Contains(target, "#") && !strings.HasSuffix(target, ".adoc") {
		file, fragment = "", target
	}
	if strings.Contains(file, ":") {
		return
	}
	if fragment != "" {
		file += "#" + fragment
	}
	p.w.Link(file, strings.TrimSpace(text))
}
