package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// text reduces the markup within a line. Markup that continues on further lines moves to
// them.
func (r *reducer) text(line string) {
	shown := r.dedented(line)
	if r.span == "" && !strings.ContainsAny(line, "<{`") && !strings.Contains(line, "](data:") && !hasIcon(line) {
		r.emit(shown)
		return
	}
	trimmed := strings.TrimLeft(shown, " \t>")
	prefix := shown[:len(shown)-len(trimmed)]
	prefix += strings.Repeat(" ", len(listMark().FindString(trimmed)))
	column := len(line) - len(shown)
	r.line, r.begin, r.rewritten = r.line[:0], 0, false
	for column < len(r.lines[r.at]) {
		column = r.next(column)
	}
	if !r.rewritten {
		r.emit(shown)
		return
	}
	text := string(r.line)
	if trimmed[:1] == "|" || trimmed[:1] == "#" { // a row or a heading is a single line
		text = strings.Join(strings.Fields(text), " ")
	}
	if strings.Contains(text, "](") {
		text = emptyLink().ReplaceAllString(text, "$1")
	}
	r.replace(text, prefix)
}

// next copies or reduces what begins at a column of the current line and returns the column
// after it.
func (r *reducer) next(column int) int {
	line := r.lines[r.at]
	if r.span != "" {
		if i := strings.Index(line[column:], r.span); i >= 0 {
			end := column + i + len(r.span)
			r.span = ""
			return r.copy(column, end)
		}
		return r.copy(column, len(line))
	}

	i := strings.IndexAny(line[column:], "\\`<{!:$+")
	if i < 0 {
		return r.copy(column, len(line))
	}
	if column = r.copy(column, column+i); column+1 == len(line) {
		return r.copy(column, column+1)
	}

	at := r.at
	text, after, ok := "", 0, false
	switch rest := line[column:]; rest[0] {
	case '\\':
		return r.copy(column, column+2)
	case '`':
		return r.codeSpan(column)
	case '<':
		if strings.HasPrefix(rest, "<!--") {
			var comment string
			if comment, after, ok = r.skipTo(column+4, "-->"); ok {
				r.hidden = append(r.hidden, comment)
			}
		} else if m := crossReference().FindStringSubmatch(window(rest)); m != nil {
			text, after, ok = "`"+m[1]+"`", column+len(m[0]), true
		} else {
			text, after, ok = r.tag(column)
		}
	case '{':
		text, after, ok = r.braces(column)
	case '!':
		if m := dataImage().FindStringSubmatch(rest); m != nil {
			if end := strings.IndexByte(rest, ')'); end > 0 {
				text, after, ok = m[1], column+end+1, true
			}
		}
	case ':':
		if m := iconMark().FindString(window(rest)); m != "" {
			after, ok = column+len(m), true
		} else if m := inlineDirective().FindStringSubmatch(window(rest)); m != nil &&
			(column == 0 || strings.IndexByte(" \t([*|", line[column-1]) >= 0) {
			given := parseAttributes(m[3])
			text, after, ok = cmp.Or(m[2], given.get("label", "text"), given.title()), column+len(m[0]), true
		}
	case '+':
		if m := keysMark().FindStringSubmatch(window(rest)); m != nil && !r.endsWord() {
			text, after, ok = strings.ReplaceAll(m[1], `"`, ""), column+len(m[0]), true
		}
	case '$':
		if end := strings.IndexByte(rest[1:], '$'); r.mdx && end > 0 && strings.ContainsAny(rest[:end+1], "\\{") {
			return r.copy(column, column+end+2)
		}
	}

	if !ok {
		r.at = at
		return r.copy(column, column+1)
	}
	r.rewritten = true
	r.line = append(r.line, text...)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		r.begin = len(r.line) - len(text) + i + 1
	}
	return after
}

// window returns the part of a line in which short markup must end.
func window(rest string) string {
	const most = 512
	return rest[:min(len(rest), most)]
}

// endsWord reports whether the line so far ends with a letter, a digit or a plus.
func (r *reducer) endsWord() bool {
	n := len(r.line)
	return n > 0 && (r.line[n-1] == '+' || r.line[n-1]|0x20 >= 'a' && r.line[n-1]|0x20 <= 'z' ||
		r.line[n-1] >= '0' && r.line[n-1] <= '9')
}

// hasIcon reports whether a line may have icons or keys of MkDocs: ":material-check:", "++ctrl++".
func hasIcon(line string) bool {
	return strings.Count(line, "++") > 1 || strings.Contains(line, ":material-") || strings.Contains(line, ":octicons-") ||
		strings.Contains(line, ":fontawesome-") || strings.Contains(line, ":simple-")
}

func (r *reducer) copy(from, to int) int {
	r.line = append(r.line, r.lines[r.at][from:to]...)
	return to
}

// isFirst reports whether nothing is on the current output line so far.
func (r *reducer) isFirst() bool {
	for _, c := range r.line[r.begin:] {
		if c != ' ' && c != '\t' && c != '>' {
			return false
		}
	}
	return true
}

// codeSpan copies code between backquotes. It may end on a further line of the paragraph.
func (r *reducer) codeSpan(column int) int {
	line := r.lines[r.at]
	end := column
	for end < len(line) && line[end] == '`' {
		end++
	}
	mark := line[column:end]
	if i := indexRun(line[end:], mark); i >= 0 {
		return r.copy(column, end+i+len(mark))
	}
	const most = 10
	for _, l := range r.lines[r.at+1 : min(len(r.lines), r.at+most)] {
		if document.IsBlank(l) || isFence(withoutMarks(l)) {
			break
		}
		if r.budget -= len(l); indexRun(l, mark) >= 0 && r.budget > 0 {
			r.span = mark
			return r.copy(column, len(line))
		}
	}
	return r.copy(column, end)
}

// indexRun returns the index of a run of backquotes that is exactly mark.
func indexRun(s, mark string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(mark)
		for end < len(s) && s[end] == '`' {
			end++
		}
		if end == i+len(mark) {
			return i
		}
		from = end
	}
}

var (
	emptyLink       = document.Lazily(`\[([^\[\]]*)\]\(\s*\)`)
	dataImage       = document.Lazily(`^!\[([^\]()]{0,200})\]\(\s*<?data:`)
	crossReference  = document.Lazily(`^<xref:([\w.*()%,-]+)(?:\?[^>]*)?>`)
	keysMark        = document.Lazily(`^\+\+((?:[\w-]+|"[^"]+")(?:\+(?:[\w-]+|"[^"]+"))*)\+\+`)
	iconMark        = document.Lazily(`^:(?:material|octicons|fontawesome|simple)-[\w-]+:(?:\{[^{}]*\})?[ \t]*`)
	inlineDirective = document.Lazily(`^:([a-z][\w-]*)(?:\[([^\]]*)\])?\{([^{}]*)\}`)
	role            = document.Lazily("^\\{([a-z][\\w:+.-]*)\\}(`+)")
	attributeList   = document.Lazily(`^\{:?\s*(?:[#.][\w:./-]+|-|[\w:-]+=(?:"[^"]*"|'[^']*'|[^\s{}"'` + "`" +
		`]+))(?:\s+(?:[#.][\w:./-]+|[\w:-]+(?:=(?:"[^"]*"|'[^']*'|[^\s{}"'` + "`" + `]+))?))*\s*\}`)
	listedID   = document.Lazily(`[{\s]#([\w:.-]+)`)
	commentID  = document.Lazily(`^\s*#?([\w-]+)\s*$`)
	inlineLink = document.Lazily(`^\{@(?:link|linkcode|linkplain)\s+([^\s|}]+)(?:[\s|]+([^}]*))?\}`)
)

// braces reduces what begins with a brace: a template, an expression, attributes, a comment.
func (r *reducer) braces(column int) (text string, after int, ok bool) {
	rest := r.lines[r.at][column:]
	isHeading := strings.HasPrefix(strings.TrimLeft(r.lines[r.at], " "), "#")
	switch {
	case strings.HasPrefix(rest, "{/*"):
		comment, after, ok := r.skipTo(column+3, "*/}")
		if m := commentID().FindStringSubmatch(comment); ok && m != nil && isHeading {
			r.pending = append(r.pending, m[1])
		} else if ok {
			r.hidden = append(r.hidden, comment)
		}
		return "", after, ok
	case strings.HasPrefix(rest, "{{<"), strings.HasPrefix(rest, "{{%"):
		end := map[byte]string{'<': ">}}", '%': "%}}"}[rest[2]]
		inner, after, ok := r.skipTo(column+3, end)
		if !ok {
			return "", 0, false
		}
		if inner = strings.TrimSpace(inner); strings.HasPrefix(inner, "/*") {
			return "{{" + rest[2:3] + " " + strings.Trim(inner, "/* ") + " " + end, after, true
		}
		return r.template(strings.TrimSuffix(inner, "/"), &after), after, true
	case strings.HasPrefix(rest, "{{") && !r.mdx:
		inner, after, ok := r.skipTo(column+2, "}}")
		if ok && r.inTarget() {
			return "", after, true
		}
		if !ok || r.raw || !r.templated && !strings.HasPrefix(inner, "#") {
			return "", 0, false
		}
		if s, isText := stringLiteral(strings.Trim(inner, "- \n")); isText {
			return s, after, true
		}
		if s := r.field(inner); s != "" {
			return s, after, true
		}
		r.dropped++
		return "", after, true
	case strings.HasPrefix(rest, "{%"):
		inner, after, ok := r.skipTo(column+2, "%}")
		if !ok {
			return "", 0, false
		}
		if s := r.field(inner); s != "" {
			return s, after, true
		}
		if id := listedID().FindStringSubmatch("{" + strings.TrimSpace(inner)); id != nil {
			r.pending = append(r.pending, id[1])
			return "", after, true
		}
		return r.template(strings.Trim(inner, "- \t\n"), &after), after, true
	case strings.HasPrefix(rest, "{!"):
		_, after, ok := r.skipTo(column+2, "!}")
		if ok {
			r.dropped++
		}
		return "", after, ok
	case strings.HasPrefix(rest, "{::"):
		_, after, ok := r.skipTo(column, "}")
		return "", after, ok
	}

	if m := inlineLink().FindStringSubmatch(window(rest)); m != nil {
		return cmp.Or(strings.TrimSpace(m[2]), m[1]), column + len(m[0]), true
	}
	const longest = 4 << 10
	if m := attributeList().FindString(rest[:min(len(rest), longest)]); m != "" &&
		(isHeading || r.endsMarkup(column) || strings.TrimSpace(rest) == m) {
		given := parseAttributes(strings.Trim(m, "{:}"))
		if id := listedID().FindStringSubmatch(m); id != nil {
			r.pending = append(r.pending, id[1])
		} else if id := given.get("id"); id != "" {
			r.pending = append(r.pending, id)
		}
		if alt := given.get("fig-alt", "alt"); alt != "" {
			text = " (" + alt + ")"
		}
		r.unbracket()
		return text, column + len(m), true
	}
	if m := role().FindStringSubmatch(rest); m != nil {
		begin := len(m[0])
		if end := indexRun(rest[begin:], m[2]); end > 0 {
			return roleText(m[1], rest[begin:begin+end]), column + begin + end + len(m[2]), true
		}
	}

	if !r.mdx || r.budget <= 0 || r.raw {
		return "", 0, false
	}
	const most = 400
	s := r.ahead(column, most)
	n := endOfJSX(s)
	if r.budget -= max(n, 64); n == 0 {
		r.budget -= len(s)
	}
	if n == 0 {
		return "", 0, false
	}

	inner := strings.TrimSpace(s[1 : n-1])
	after = r.skip(column, n)
	if text, isText := stringLiteral(inner); isText {
		return text, after, true
	}
	if text := r.field(strings.Trim(inner, "{} ")); text != "" {
		return text, after, true
	}
	if inner != "" && !strings.HasPrefix(inner, "/*") {
		r.dropped++
		if strings.HasPrefix(inner, "{") && isHeading { // "## List {{ tag: 'GET', label: '/pots' }}"
			return annotation(inner), after, true
		}
	}
	return "", after, true
}

// field returns the text of the field of the front matter that an expression means.
func (r *reducer) field(expression string) string {
	if m := fieldExpression().FindStringSubmatch(strings.Trim(expression, "- \n")); m != nil {
		return textOf(r.front, m[1])
	}
	return ""
}

var fieldExpression = document.Lazily(`^\$?(?:markdoc\.)?(?:front[mM]atter|doc|page|params)\.(\w+)$`)

// annotation returns the operation of an API, or the label, in an annotation of a heading.
func annotation(object string) string {
	var given attributes
	for _, m := range objectMember().FindAllStringSubmatch(object, -1) {
		given = append(given, attribute{name: m[1], value: strings.Trim(m[4], "\"'`")})
	}
	if operation := given.operation(); operation != "" {
		return "`" + operation + "`"
	}
	return given.get("label")
}

// inTarget reports whether the line so far ends within the target of a link.
func (r *reducer) inTarget() bool {
	const longest = 512
	line := string(r.line[max(0, len(r.line)-longest):])
	i := strings.LastIndex(line, "](")
	return i >= 0 && !strings.ContainsAny(line[i+2:], ") ")
}

// unbracket removes the brackets of the text, not a link, that precedes attributes.
func (r *reducer) unbracket() {
	n := len(r.line)
	if n == 0 || r.line[n-1] != ']' {
		return
	}
	if begin := bytes.LastIndexAny(r.line[:n-1], "[]\n"); begin >= 0 && r.line[begin] == '[' &&
		(begin == 0 || strings.IndexByte("!]^", r.line[begin-1]) < 0) {
		r.line = append(r.line[:begin], r.line[begin+1:n-1]...)
	}
}

// endsMarkup reports whether a link, code or emphasis ends before a column, maybe with other
// attributes.
func (r *reducer) endsMarkup(column int) bool {
	line := r.lines[r.at][:column]
	const most = 3 // lists before this one, so that the time is linear
	for n := 0; n < most && strings.HasSuffix(line, "}"); n++ {
		start := strings.LastIndexByte(line, '{')
		if start < 0 || attributeList().FindString(line[start:]) != line[start:] {
			return false
		}
		line = line[:start]
	}
	return line != "" && strings.IndexByte(")]`*_", line[len(line)-1]) >= 0
}

// roleText returns the text of a role of MyST.
func roleText(name, text string) string {
	shown, target, isLink := strings.Cut(strings.TrimSuffix(text, ">"), "<")
	shown = strings.TrimSpace(shown)
	switch name[strings.LastIndexByte(name, ':')+1:] {
	case "ref", "doc", "numref", "eq", "term", "any", "abbr", "download", "sub", "sup", "index", "cite", "cite:p",
		"cite:t", "octicon", "fas", "kbd", "guilabel", "menuselection":
		if isLink && strings.HasSuffix(text, ">") {
			return cmp.Or(shown, target)
		}
		return text
	}
	if isLink && shown != "" && strings.HasSuffix(text, ">") {
		return "`" + shown + "`"
	}
	if short, ok := strings.CutPrefix(text, "~"); ok {
		text = short[strings.LastIndexByte(short, '.')+1:]
	}
	return "`" + strings.TrimPrefix(text, "!") + "`"
}

// template returns the text of a shortcode or tag of a template.
func (r *reducer) template(inner string, after *int) string {
	name, rest, _ := strings.Cut(inner, " ")
	alone := r.isFirst() && strings.TrimSpace(r.lines[r.at][*after:]) == ""
	lineEnd := ""
	if alone {
		lineEnd = "\n"
	}
	name = strings.TrimSpace(name)
	switch {
	case name == "endraw":
		r.raw = false
		return lineEnd
	case strings.HasPrefix(name, "/"), strings.HasPrefix(name, "end"):
		return lineEnd
	}

	switch name {
	case "raw", "verbatim":
		r.raw = true
		return lineEnd
	case "comment":
		for _, mark := range []string{"comment", "}"} {
			if _, end, ok := r.skipTo(*after, mark); ok {
				*after = end
			}
		}
		return lineEnd
	case "highlight":
		text, end, ok := r.skipToEnd(*after, "highlight")
		if !ok {
			return lineEnd
		}
		*after = end
		language, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(rest), `"`), " ")
		return r.verbatim(text, strings.Trim(language, `"`))
	case "toc", "if", "else", "elsif", "elif", "unless", "for", "case", "when", "set", "assign", "capture", "ref",
		"relref", "tabs", "steps", "br":
		return lineEnd
	}

	given := parseAttributes(rest)
	for i := range given {
		given[i].name = strings.TrimSuffix(strings.ToLower(given[i].name), ":")
	}
	switch name {
	case "param":
		if text := textOf(r.front, strings.Trim(rest, "\" ")); text != "" {
			return text
		}
	case "new-in":
		return "New in version " + strings.TrimSpace(rest) + "." + lineEnd
	case "deprecated-in":
		return "Deprecated since version " + strings.TrimSpace(rest) + "." + lineEnd
	}
	title := ""
	if m := quotedText().FindStringSubmatch(rest); m != nil {
		title = m[1]
	} else if name == "tab" && !strings.Contains(rest, "=") {
		title = strings.TrimSpace(rest)
	}

	kind, isAdmonition := admonitionKind(name)
	if severity, ok := admonitionKind(given.get("style", "type", "kind", "color")); ok && isAdmonition ||
		ok && name == "hint" {
		kind, isAdmonition = severity, true
	}
	var text string
	switch {
	case isAdmonition:
		text = admonitionLabel(kind, cmp.Or(given.title(), title))
	case name == "table":
	case isLayout(name) || name == "expand" || name == "accordion" || name == "collapse":
		text = given.shown(name, title)
	default:
		text = given.shown(name, "")
	}

	body := given.get("content", "text", "message")
	if body == "true" || body == "false" { // an option of Docsy's tabs
		body = ""
	}
	if name == "kbd" {
		body = cmp.Or(given.get("win", "linux", "mac"), title, strings.TrimSpace(rest))
	} else if name == "badge" || name == "heading" {
		body = cmp.Or(body, title)
	}

	if alone {
		return text + "\n" + body
	}
	if text = strings.Trim(strings.ReplaceAll(text, "**", ""), "\n"); body != "" {
		text = body
	} else if isAdmonition && text != "" {
		text = strings.TrimSuffix(text, ":") + ": "
	}
	if text == "" && !isAdmonition && !isLayout(name) {
		r.dropped++
	}
	return text
}

// skipToEnd moves behind the end tag of a template.
func (r *reducer) skipToEnd(column int, name string) (text string, after int, ok bool) {
	for _, mark := range []string{"{% end" + name + " %}", "{{< /" + name + " >}}", "{{% /" + name + " %}}",
		"{%- end" + name + " -%}", "{{</ " + name + " >}}", "{{< / " + name + " >}}", "{{</" + name + ">}}"} {
		if text, after, ok = r.skipTo(column, mark); ok {
			return text, after, true
		}
	}
	return "", 0, false
}

var quotedText = document.Lazily(`^\s*"([^"]*)"`)

// codeMark is the line in place of a code block. Text has no zero bytes.
const codeMark = "\x00"

// verbatim keeps a text as a code block. It returns a line that the block replaces, because
// lines of text lose their indentation.
func (r *reducer) verbatim(text, language string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	r.verbatims = append(r.verbatims, slices.Concat([]string{fence + language}, lines, []string{fence}))
	return "\n" + codeMark + "\n\n"
}
