package markdown

import (
	"cmp"
	"html"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// An attribute is one of a tag, a shortcode or a directive.
type attribute struct {
	name, value string
	object      string // an expression of JavaScript
}

type attributes []attribute

// get returns the value of the first attribute with one of the names.
func (a attributes) get(names ...string) string {
	for _, name := range names {
		for _, b := range a {
			if b.name == name && b.value != "" {
				return strings.Join(strings.Fields(b.value), " ")
			}
		}
	}
	return ""
}

func (a attributes) has(name string) bool {
	return slices.ContainsFunc(a, func(b attribute) bool { return b.name == name && b.value != "false" })
}

// title returns what the attributes call their content.
func (a attributes) title() string {
	return a.get("title", "label", "header", "heading", "summary", "caption", "question", "term", "titleText")
}

// shown returns the text of the attributes of a component or directive above its content.
func (a attributes) shown(component, title string) string {
	if field := a.field(component); field != "" {
		return field
	}
	title = cmp.Or(title, a.title())
	if strings.HasPrefix(component, "Tab") || strings.Contains(component, "tab") {
		title = cmp.Or(title, a.get("value", "name"))
	}
	description := a.get("description", "subtitle", "tagline")
	if status := a.get("status", "httpCode"); title == "" && description != "" {
		title = status
	}
	switch name := a.get("name"); {
	case isFileName(component):
		title = cmp.Or(title, name)
	case component == "Fragment": // a variant of its parent
		title = cmp.Or(title, a.get("slot"))
	case strings.Contains(name, " "): // of a person, not of an icon
		title, description = name, cmp.Or(description, title)
	}
	var text strings.Builder
	kind, known := admonitionKind(component)
	if severity, ok := admonitionKind(a.get("type", "style", "kind", "variant", "severity")); known && ok {
		kind = severity
	}
	switch {
	case known:
		text.WriteString(admonitionLabel(kind, title))
	case title != "" && description != "":
		text.WriteString("\n**" + title + "**: " + description + "\n")
	case title != "":
		text.WriteString("\n**" + title + "**\n")
	default:
		text.WriteString(description)
	}
	if operation := a.operation(); operation != "" {
		text.WriteString("\n`" + operation + "`\n")
	}
	for _, name := range []string{"alt", "caption"} {
		if more := a.get(name); more != "" && more != title {
			text.WriteString("\n" + more)
		}
	}
	for _, b := range a {
		if b.object != "" {
			text.WriteString(objectText(b.object))
		}
	}
	return text.String()
}

// isFileName reports whether a component of that name is an entry of a tree of files.
func isFileName(component string) bool {
	name := strings.ToLower(component[strings.LastIndexAny(component, "/.")+1:])
	return name == "file" || name == "folder"
}

// operation returns the method and the address of an operation of an API: "GET /pots".
func (a attributes) operation() string {
	method := strings.ToUpper(a.get("method", "tag", "verb"))
	switch method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
	default:
		return ""
	}
	address := a.get("path", "label", "url", "endpoint")
	if !strings.Contains(address, "/") {
		return ""
	}
	if strings.HasPrefix(address, "/") {
		address = a.get("baseUrl", "baseurl", "host") + address
	}
	return method + " " + strings.ReplaceAll(address, "`", "")
}

// field returns the definition line of a component that describes a parameter, a property or
// a field: "`name` string, required".
func (a attributes) field(component string) string {
	if strings.HasPrefix(component, "Icon") {
		return ""
	}
	isField := regexpField().MatchString(component)
	for _, place := range []string{"name", "path", "query", "body", "header", "cookie", "prop", "param"} {
		name := a.get(place)
		if name == "" || !isField {
			continue
		}
		if place == "name" {
			place = a.get("in")
		}
		place = map[string]string{"path": "in the path", "query": "in the query", "header": "header",
			"cookie": "cookie"}[place]
		return "\n" + a.definitionLine(name, place)
	}
	return ""
}

// definitionLine returns the line that defines a name with the attributes.
func (a attributes) definitionLine(name, place string) string {
	line := "`" + strings.ReplaceAll(name, "`", "") + "`"
	var parts []string
	for _, part := range []string{a.get("type"), place} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if a.has("required") || a.has("isRequired") {
		parts = append(parts, "required")
	}
	if a.has("deprecated") {
		parts = append(parts, "deprecated")
	}
	if standard := a.get("default", "defaultValue"); standard != "" {
		parts = append(parts, "default `"+strings.ReplaceAll(standard, "`", "")+"`")
	}
	if len(parts) > 0 {
		line += " " + strings.Join(parts, ", ")
	}
	if description := a.get("description"); description != "" {
		line += ": " + description
	}
	return line
}

// objectText returns the texts in the value of an attribute that is an object or a list of
// objects: a definition line or a title for each.
func objectText(object string) string {
	var b strings.Builder
	var item attributes
	flush := func() {
		name := item.get("name", "prop")
		switch {
		case name != "" && item.get("type", "description") != "":
			b.WriteString("\n" + item.definitionLine(name, "") + "\n")
		case item.title() != "":
			b.WriteString(item.shown("", ""))
		}
		item = nil
	}
	for _, m := range objectMember().FindAllStringSubmatch(object, -1) {
		key, value := cmp.Or(m[1], m[2], m[3]), m[4]
		switch {
		case key == "": // the end of an object
			flush()
		case value == "{":
			flush()
			item = attributes{{name: "name", value: key}}
		case strings.HasPrefix(value, "<>"):
			value = anyTag().ReplaceAllString(value, "")
			item = append(item, attribute{name: key, value: value})
		default:
			item = append(item, attribute{name: key, value: strings.Trim(value, "\"'`")})
		}
	}
	flush()
	return b.String()
}

var (
	regexpField  = document.Lazily(`(?i)field|param|prop|arg|attribute|option|header`)
	objectMember = document.Lazily(`(?:([A-Za-z_$][\w$-]*)|'([^'\n]+)'|"([^"\n]+)")\s*:\s*("[^"\n]*"|'[^'\n]*'|` +
		"`[^`]*`" + `|\{|true\b|false\b|-?\d[\w.]*|<>[^{}]*?</>)|\}`)
	tagName    = document.Lazily(`^</?([A-Za-z][\w.-]*)(?:[\s/>]|$)`)
	closingTag = document.Lazily(`</([A-Za-z][\w.-]*)\s*>`)
	anyTag     = document.Lazily(`<[^>]*>`)
)

// parseAttributes parses the attributes of a tag, a shortcode or a directive. Those that
// frameworks bind to code have no value.
func parseAttributes(s string) attributes {
	var all attributes
	for i := 0; i < len(s); {
		if strings.IndexByte(" \t\n\r/,", s[i]) >= 0 {
			i++
			continue
		}
		begin := i
		for i < len(s) && strings.IndexByte(" \t\n\r=\"'{", s[i]) < 0 {
			i++
		}
		a := attribute{name: s[begin:i]}
		if i < len(s) && s[i] == '=' {
			i++
		} else if begin < i {
			all = append(all, attribute{name: a.name, value: ""})
			continue
		}
		if i == len(s) {
			break
		}
		switch c := s[i]; c {
		case '"', '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return all
			}
			a.value, i = s[i+1:i+1+end], i+end+2
		case '{':
			end := endOfJSX(s[i:])
			if end == 0 {
				return all
			}
			inner := strings.TrimSpace(s[i+1 : i+end-1])
			if text, ok := stringLiteral(inner); ok {
				a.value = text
			} else if strings.ContainsAny(inner, "{[") {
				a.object = inner
			} else if inner != "false" {
				a.value = strings.Trim(inner, "`")
			} else {
				a.value = inner
			}
			i += end
		default:
			begin := i
			for i < len(s) && strings.IndexByte(" \t\n\r", s[i]) < 0 {
				i++
			}
			a.value = strings.TrimSuffix(s[begin:i], "/")
		}
		if a.name != "" && strings.IndexByte(":@#*", a.name[0]) < 0 && !strings.HasPrefix(a.name, "v-") {
			a.value = html.UnescapeString(a.value)
			all = append(all, a)
		}
	}
	return all
}

// stringLiteral returns the text of a literal of JavaScript without expressions.
func stringLiteral(s string) (string, bool) {
	if len(s) < 2 || strings.IndexByte("\"'`", s[0]) < 0 || s[len(s)-1] != s[0] {
		return "", false
	}
	inner := s[1 : len(s)-1]
	if strings.IndexByte(inner, s[0]) >= 0 || s[0] == '`' && strings.Contains(inner, "${") {
		return "", false
	}
	return inner, true
}

// endOfJSX returns the end of the tag or expression at the beginning of s, 0 if
// it is not closed.
func endOfJSX(s string) int {
	depth := 0
	quote := byte(0)
	tag := s[0] == '<'
	if tag && (len(s) < 2 || s[1] != '/' && s[1] != '>' && (s[1]|0x20 < 'a' || s[1]|0x20 > 'z')) {
		return 0
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && depth > 0 {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"', c == '\'' && (tag && depth == 0 || depth > 1), c == '`' && depth > 0:
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 && !tag {
				return i + 1
			}
		case c == '>' && depth <= 0 && tag:
			return i + 1
		case c == '<' && depth <= 0 && tag && i > 0:
			return 0
		}
	}
	return 0
}

// ahead returns the text from a column of the current line on, at most longest lines and
// only as far as the budget allows.
func (r *reducer) ahead(column, longest int) string {
	const most = 16 << 10
	rest := r.lines[r.at][column:]
	rest = rest[:min(len(rest), most)]
	end := min(len(r.lines), r.at+longest)
	if r.at+1 == end || r.budget <= 0 || len(rest) == most {
		return rest
	}
	var b strings.Builder
	b.WriteString(rest)
	for _, l := range r.lines[r.at+1 : end] {
		if b.Len()+len(l) > most {
			break
		}
		b.WriteByte('\n')
		b.WriteString(l)
	}
	r.budget -= b.Len()
	return b.String()
}

// skip moves to the end of markup of n bytes that begins at a column of the current line,
// and returns the column there.
func (r *reducer) skip(column, n int) int {
	for column+n > len(r.lines[r.at]) {
		n -= len(r.lines[r.at]) - column + 1
		column = 0
		r.at++
	}
	return column + n
}

// skipTo moves behind the next mark, which may be on a further line. It returns the text
// before it; ok is false if there is none.
func (r *reducer) skipTo(column int, mark string) (text string, after int, ok bool) {
	if at, known := r.unclosed[mark]; known && r.at >= at {
		return "", 0, false
	}
	if i := strings.Index(r.lines[r.at][column:], mark); i >= 0 {
		return r.lines[r.at][column : column+i], column + i + len(mark), true
	}
	for n := r.at + 1; n < len(r.lines); n++ {
		if i := strings.Index(r.lines[n], mark); i >= 0 {
			lines := append([]string{r.lines[r.at][column:]}, r.lines[r.at+1:n]...)
			r.at = n
			return strings.Join(append(lines, r.lines[n][:i]), "\n"), i + len(mark), true
		}
	}
	r.unclosed[mark] = r.at
	return "", 0, false
}

// A treatment is what remains of an HTML element.
type treatment int

const (
	unknown   treatment = iota
	inline              // its content
	block               // its content, on lines of its own
	discarded           // nothing
)

// treatmentOf returns the treatment of an element by its lower-case name.
func treatmentOf(name string) treatment {
	switch name {
	case "a", "abbr", "acronym", "b", "bdi", "big", "button", "cite", "code", "data", "del", "dfn", "em", "font", "i",
		"img", "image", "input",
		"ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
		"time", "tt", "u",
		"var", "wbr", "br", "select", "option", "textarea", "output", "progress", "meter", "ruby", "rt", "rp", "bdo":
		return inline
	case "address", "article", "aside", "audio", "blockquote", "caption", "center", "col", "colgroup", "dd", "details",
		"div", "dl", "dt",
		"embed", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
		"hr",
		"iframe", "legend", "li", "link", "main", "meta", "nav", "noscript", "object", "ol", "p", "param", "picture",
		"pre", "section",
		"source", "summary", "table", "tbody", "td", "template", "slot", "tfoot", "th", "thead", "tr", "track", "ul",
		"video", "hgroup", "dialog", "menu":
		return block
	case "script", "style", "svg", "math-renderer":
		return discarded
	}
	return unknown
}

// tag reduces the tag at a column of the current line. It returns the text in its place and
// the column after it; ok is false if it is text.
func (r *reducer) tag(column int) (text string, after int, ok bool) {
	opening := r.lines[r.at]
	line := opening[column:]
	if r.mdx && (strings.HasPrefix(line, "<>") || strings.HasPrefix(line, "</>")) {
		return "", column + strings.IndexByte(line, '>') + 1, true
	}
	m := tagName().FindStringSubmatch(line)
	if m == nil {
		return "", 0, false
	}

	name, isClosing := m[1], line[1] == '/'
	kind := treatmentOf(strings.ToLower(name))
	if name != strings.ToLower(name) && (r.mdx || kind == unknown || name != strings.ToUpper(name)) {
		kind = unknown // a component: Details, Code
	}

	const longest, most = 400, 16 << 10 // lines, bytes
	s := line[:min(len(line), most)]
	n := endOfJSX(s)
	if r.budget -= max(n, 64); n == 0 && r.budget > 0 {
		s = r.ahead(column, longest)
		n = endOfJSX(s)
		r.budget -= len(s)
	}
	if n == 0 {
		return "", 0, false
	}

	isEmpty := strings.HasSuffix(s[:n], "/>")
	given := parseAttributes(strings.TrimSuffix(strings.TrimSuffix(s[len(m[1])+1:n], ">"), "/"))
	if isClosing {
		given = nil
	}
	if kind == unknown && !r.isComponent(name, isClosing || isEmpty, given) {
		return "", 0, false
	}

	isFirst := r.isFirst()
	after = r.skip(column, n)
	if isFirst && !isClosing && !isEmpty && kind != inline && kind != discarded && !isVoid(name) &&
		!strings.Contains(window(r.lines[r.at][after:]), "</"+name) {
		r.open(container{name: name, code: kind == block}, opening)
	}
	if id := given.get("id", "name"); id != "" && kind != unknown && !strings.ContainsAny(id, " {}$") &&
		(name == "a" || given.get("id") != "") {
		r.pending = append(r.pending, id)
	}

	if isClosing {
		r.close(name)
		return r.closeTag(name, kind, after), after, true
	}
	switch {
	case kind == discarded && !isEmpty:
		if _, end, ok := r.skipTo(after, "</"+name+">"); ok {
			after = end
		}
		return "", after, true
	case kind == unknown:
		return r.component(name, given, column, isFirst, isEmpty), after, true
	}
	return r.element(strings.ToLower(name), given, &after), after, true
}

// isComponent reports whether an element that HTML does not have is a component, and not a
// placeholder in a text such as <name> or List<String>.
func (r *reducer) isComponent(name string, ends bool, given attributes) bool {
	isUpper := name[0] >= 'A' && name[0] <= 'Z'
	if !isUpper && !strings.ContainsAny(name, "-.") {
		return false
	}
	if r.mdx && isUpper {
		return true
	}
	if r.closed == nil {
		r.closed = map[string]bool{}
		for _, l := range r.lines {
			if strings.Contains(l, "</") {
				for _, m := range closingTag().FindAllStringSubmatch(l, -1) {
					r.closed[m[1]] = true
				}
			}
		}
	}
	return ends || r.closed[name] || slices.ContainsFunc(given, func(a attribute) bool { return a.value != "" })
}

// component returns the text of a component's attributes.
func (r *reducer) component(name string, given attributes, column int, isFirst, isEmpty bool) string {
	switch {
	case strings.HasPrefix(name, "Icon") || strings.HasSuffix(name, "Icon"):
		return ""
	case isBadge(name):
		return given.get("text", "label", "title", "version", "since")
	}
	const most = 16 // nested
	if more := given.get("tip", "tooltip", "definition"); more != "" && !isEmpty && len(r.suffixes) < most {
		r.suffixes = append(r.suffixes, suffix{name, " (" + more + ")"})
		return ""
	}
	if name == "Tabs" {
		given = r.keepLabels(given)
	} else if label := r.labels[given.get("value")]; label != "" {
		given = append(attributes{{name: "label", value: label}}, given...)
	}
	if !isFirst && (isEmpty || !r.followsTag(column)) {
		return cmp.Or(given.get("text"), given.title(), given.get("alt"))
	}
	text := given.shown(name, "")
	if !isFirst && text != "" {
		text = "\n" + text
	}
	if isEmpty && text == "" {
		text = given.get("text")
	}
	return text + "\n"
}

// followsTag reports whether a tag ends just before the one at a column of its line, which is
// then a block.
func (r *reducer) followsTag(column int) bool {
	line := r.lines[r.first]
	return r.first == r.at && column > 0 && column <= len(line) && line[column-1] == '>'
}

// keepLabels keeps the labels of tabs that only have a value. It returns the other attributes.
func (r *reducer) keepLabels(given attributes) attributes {
	return slices.DeleteFunc(given, func(a attribute) bool {
		if a.name != "values" || a.object == "" {
			return false
		}
		label, value := "", ""
		for _, m := range objectMember().FindAllStringSubmatch(a.object, -1) {
			switch text := strings.Trim(m[4], "\"'`"); m[1] {
			case "label":
				label = text
			case "value":
				value = text
			}
			if label != "" && value != "" {
				if r.labels == nil {
					r.labels = map[string]string{}
				}
				r.labels[value], label, value = label, "", ""
			}
		}
		return true
	})
}

// isBadge reports whether a component is a label within a text.
func isBadge(name string) bool {
	return strings.Contains(name, "Badge") || name == "Tag" || name == "Kbd" || strings.Contains(name, "Version")
}

// closeTag returns the text of a closing tag.
func (r *reducer) closeTag(name string, kind treatment, after int) string {
	for i := len(r.suffixes) - 1; i >= 0; i-- {
		if r.suffixes[i].name == name {
			text := r.suffixes[i].text
			r.suffixes = r.suffixes[:i]
			return text
		}
	}
	switch name {
	case "td", "th":
		return ""
	case "tr", "li", "dt", "dd", "thead", "tbody":
		return "\n"
	}
	if kind == inline || isBadge(name) || kind == unknown && !r.isFirst() && !r.isLast(after) {
		return ""
	}
	return "\n\n"
}

// isLast reports whether no text follows on the current line.
func (r *reducer) isLast(column int) bool { return strings.TrimSpace(r.lines[r.at][column:]) == "" }

// isVoid reports whether an element has no content, or often no closing tag.
func isVoid(name string) bool {
	switch name {
	case "hr", "br", "link", "meta", "source", "track", "col", "embed", "input", "param", "li", "p", "td", "th", "tr",
		"dt", "dd":
		return true
	}
	return false
}

// element returns the text of an HTML tag. It moves after behind the content that it also
// reduces.
func (r *reducer) element(name string, given attributes, after *int) string {
	rest := r.lines[r.at][*after:]
	switch name {
	case "img", "image":
		return given.get("alt", "title")
	case "br", "wbr":
		if name == "wbr" || strings.TrimSpace(rest) == "" {
			return ""
		}
		return " "
	case "sup", "sub":
		if n := len(r.line); n > r.begin && r.line[n-1] != ' ' && rest != "" && rest[0] != '<' && rest[0] != '[' {
			return map[string]string{"sup": "^", "sub": "_"}[name]
		}
		return ""
	case "code", "tt", "samp":
		if text, _, ok := strings.Cut(window(rest), "</"+name+">"); ok && text != "" &&
			!strings.ContainsAny(text, "`\n") {
			*after += len(text) + len(name) + 3
			return "`" + html.UnescapeString(anyTag().ReplaceAllString(text, "")) + "`"
		}
		return ""
	case "pre":
		text, end, ok := r.skipTo(*after, "</pre>")
		if !ok {
			return "\n"
		}
		*after = end
		return "\n" + r.verbatim(html.UnescapeString(anyTag().ReplaceAllString(text, "")), "")
	case "td", "th":
		if !r.isFirst() {
			return " | "
		}
		return ""
	case "li":
		return "\n- "
	case "h1", "h2", "h3", "h4", "h5", "h6":
		text, end, ok := r.skipTo(*after, "</"+name+">")
		if !ok {
			return "\n"
		}
		*after = end
		text = imageAlt().ReplaceAllString(text, "$1$2")
		text = strings.Join(strings.Fields(anyTag().ReplaceAllString(text, "")), " ")
		if text == "" {
			return "\n"
		}
		return "\n" + strings.Repeat("#", int(name[1]-'0')) + " " + text + "\n"
	case "video", "audio", "iframe", "object", "embed":
		return "\n" + given.get("title", "alt")
	case "details", "p", "div":
		return "\n" + given.get("summary")
	}
	if treatmentOf(name) == inline {
		return ""
	}
	return "\n"
}

var imageAlt = document.Lazily(`<img\s[^>]*?alt=(?:"([^"]*)"|'([^']*)')[^>]*>`)
