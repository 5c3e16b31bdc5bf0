package include

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A pyMember is a definition in a Python file: a class, a function, or a variable. A module
// is the definition of its file.
type pyMember struct {
	kind      string // module, class, exception, function, method, classmethod, staticmethod, property, attribute
	name      string
	signature string // "(a, b=1) -> str"; ": int = 1" for a variable
	doc       string
	bases     []string
	members   []*pyMember

	// Modules only.
	imports map[string]string // full names by local name
	stars   []string          // modules from which all names are imported
}

func (m *pyMember) member(name string) *pyMember {
	for _, inner := range m.members {
		if inner.name == name {
			return inner
		}
	}
	return nil
}

// maxMembers limits the members of a definition.
const maxMembers = 2000

// add adds a member. Of several with a name, the first with a docstring counts.
func (m *pyMember) add(inner *pyMember) {
	if i := slices.IndexFunc(m.members, func(old *pyMember) bool { return old.name == inner.name }); i >= 0 {
		if m.members[i].doc == "" {
			m.members[i] = inner
		}
	} else if len(m.members) < maxMembers {
		m.members = append(m.members, inner)
	}
}

// A pyLine is a logical line of Python: brackets and strings are closed at its end.
type pyLine struct {
	indent  int
	text    string // without comments
	comment string // of a "#:" comment, which documents a variable
}

// parsePython reads the definitions of the Python module with that name.
func parsePython(source []string, module string, isPackage bool) *pyMember {
	m := &pyMember{kind: "module", name: module, imports: map[string]string{}}
	p := &pyParser{lines: pythonLines(strings.Join(source, "\n")), module: m, isPackage: isPackage}
	if len(p.lines) > 0 {
		m.doc = pyString(p.lines[0].text)
	}
	p.block(m, -1, 0)
	return m
}

// pythonLines splits a source into logical lines.
func pythonLines(s string) (lines []pyLine) {
	var text, comment strings.Builder
	depth, indent, begun := 0, 0, false
	flush := func() {
		if line := strings.TrimSpace(text.String()); line != "" {
			lines = append(lines, pyLine{indent, line, strings.TrimSpace(comment.String())})
			comment.Reset()
		}
		text.Reset()
		depth, indent, begun = 0, 0, false
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case !begun && c == ' ':
			indent++
		case !begun && c == '\t':
			indent += 8 - indent%8
		case c == '\n' && (depth == 0 || !begun):
			flush()
			indent = 0
		case c == '\r' || c == '\n':
			text.WriteByte(' ')
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
			text.WriteByte(' ')
		case c == '#':
			text, _, _ := strings.Cut(s[i:], "\n")
			if strings.HasPrefix(text, "#:") {
				comment.WriteString(strings.TrimSpace(text[2:]) + "\n")
			}
			i += len(text)
			continue
		case c == '"' || c == '\'':
			begun = true
			end := endOfPyString(s, i)
			text.WriteString(s[i:end])
			i = end
			continue
		default:
			begun = true
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
			text.WriteByte(c)
		}
		i++
	}
	flush()
	return lines
}

// endOfPyString returns the end of the string literal whose first quote is at i.
func endOfPyString(s string, i int) int {
	quote := s[i : i+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], long) {
		quote = long
	}
	for i += len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\n' && len(quote) == 1:
			return i // not closed
		}
	}
	return len(s)
}

var pyStringForm = document.Lazily(`^[rRuUbB]{0,2}("""|'''|"|')`)

// pyString returns the value of a line that is a string literal, without indentation, or "".
func pyString(line string) string {
	m := pyStringForm().FindStringSubmatch(line)
	if m == nil || len(line) < len(m[0])+len(m[1]) || endOfPyString(line, len(m[0])-len(m[1])) != len(line) {
		return ""
	}
	text := line[len(m[0]) : len(line)-len(m[1])]
	if !strings.ContainsAny(m[0], "rR") {
		text = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\'`, "'", "\\\n", "", `\\`, `\`).Replace(text)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\t", "        "), "\n")
	rest := dedented(lines[1:])
	return strings.TrimSpace(strings.TrimSpace(lines[0]) + "\n" + strings.Join(rest, "\n"))
}

type pyParser struct {
	lines     []pyLine
	at        int
	module    *pyMember
	isPackage bool
}

var (
	pyDefForm    = document.Lazily(`^(async\s+def|def|class)\s+(\w+)\s*(?:\[.*?\])?\s*`)
	pyDataForm   = document.Lazily(`^(\w+)\s*(?::\s*([^=]+?))?\s*(?:=\s*([^=].*))?$`)
	pyImportForm = document.Lazily(`^from\s+(\.*)\s*([\w.]*)\s+import\s+(.+)$`)
	pySpaces     = document.Lazily(`\s+`)
)

// maxPyNested limits the nesting of blocks.
const maxPyNested = 50

// block reads the lines that are indented more than outer into the definition.
func (p *pyParser) block(in *pyMember, outer, depth int) {
	var decorators []string
	var last *pyMember // variable on the line before
	for p.at < len(p.lines) && p.lines[p.at].indent > outer {
		line := p.lines[p.at]
		p.at++
		if doc := pyString(line.text); doc != "" {
			if last != nil && last.doc == "" {
				last.doc = doc
			}
			last = nil
			continue
		}
		last = nil
		if line.text[0] == '@' {
			decorators = append(decorators, strings.TrimSpace(line.text[1:]))
			continue
		}
		if m := pyDefForm().FindStringSubmatch(line.text); m != nil {
			p.definition(in, line, m, decorators, depth)
			decorators = nil
			continue
		}
		decorators = nil
		word, _, _ := strings.Cut(strings.TrimSuffix(line.text, ":"), " ")
		switch word {
		case "if", "elif", "else", "try", "except", "finally", "with":
			if depth < maxPyNested { // else the lines are read here
				p.block(in, line.indent, depth+1)
			}
		case "from", "import":
			p.imported(line.text)
		default:
			if m := pyDataForm().FindStringSubmatch(line.text); m != nil && (m[2] != "" || m[3] != "") {
				last = variable(m, line.comment)
				in.add(last)
			}
		}
	}
}

func variable(m []string, doc string) *pyMember {
	v := &pyMember{kind: "attribute", name: m[1], doc: doc}
	const longest = 80
	if m[2] != "" {
		v.signature = ": " + m[2]
	}
	if m[3] != "" && len(m[3]) <= longest {
		v.signature += " = " + m[3]
	}
	v.signature = pySpaces().ReplaceAllString(v.signature, " ")
	return v
}

// definition reads a class or a function.
func (p *pyParser) definition(in *pyMember, line pyLine, m []string, decorators []string, depth int) {
	d := &pyMember{kind: "function", name: m[2]}
	rest := line.text[len(m[0]):]
	arguments, rest := cutBrackets(rest)
	result, body := cutResult(rest)
	arguments = strings.ReplaceAll(pySpaces().ReplaceAllString(arguments, " "), "( ", "(")
	arguments = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(strings.TrimSuffix(arguments, ")")), ","),
		" ") + ")"

	switch {
	case m[1] == "class":
		d.kind = "class"
		for _, base := range splitArguments(strings.Trim(arguments, "()")) {
			if base, _, _ = strings.Cut(base, "["); base != "" && !strings.Contains(base, "=") {
				d.bases = append(d.bases, base)
			}
		}
	case in.kind == "class":
		d.kind = "method"
	}
	if d.kind != "class" {
		d.signature = strings.TrimPrefix(arguments+result, ")")
	}

	for _, name := range decorators {
		name, _, _ = strings.Cut(name, "(")
		switch name = name[strings.LastIndexByte(name, '.')+1:]; name {
		case "classmethod", "staticmethod":
			d.kind = name
		case "property", "cached_property", "hybrid_property", "reify":
			d.kind, d.signature = "property", strings.Replace(result, " -> ", ": ", 1)
		case "overload", "setter", "deleter", "getter":
			d.name = "" // the other definition counts
		}
	}
	if d.kind == "method" || d.kind == "classmethod" {
		d.signature = withoutSelf(d.signature)
	}

	if body == "" && p.at < len(p.lines) && p.lines[p.at].indent > line.indent {
		d.doc = pyString(p.lines[p.at].text)
	} else {
		d.doc = pyString(body)
	}
	if d.kind == "class" && depth < maxPyNested {
		p.block(d, line.indent, depth+1)
		if made := d.member("__init__"); made != nil {
			d.signature = strings.TrimSuffix(made.signature, " -> None")
			if d.doc == "" {
				d.doc = made.doc
			}
		}
	}

	for p.at < len(p.lines) && p.lines[p.at].indent > line.indent {
		p.at++
	}
	if d.name == "" {
		return
	}
	in.add(d)
}

var pySelf = document.Lazily(`^\((?:self|cls|mcs)(?:\s*:[^,)]*)?\s*(?:,\s*|(\)))(?:/,?\s*)?`)

func withoutSelf(signature string) string {
	return pySelf().ReplaceAllString(signature, "($1")
}

// cutBrackets splits s after the bracket at its beginning.
func cutBrackets(s string) (inner, rest string) {
	if s == "" || s[0] != '(' {
		return "", s
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return s[:i+1], s[i+1:]
			}
		case '"', '\'':
			i = endOfPyString(s, i) - 1
		}
	}
	return s, ""
}

// cutResult splits the end of a definition into the type of its result and a body on the
// same line.
func cutResult(s string) (result, body string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'':
			i = endOfPyString(s, i) - 1
		case ':':
			if depth == 0 {
				result, body = s[:i], strings.TrimSpace(s[i+1:])
				if result = pySpaces().ReplaceAllString(strings.TrimSpace(result), " "); result != "" {
					result = " " + result
				}
				return result, body
			}
		}
	}
	return "", ""
}

// splitArguments splits at the commas outside of brackets.
func splitArguments(s string) (parts []string) {
	depth, begin := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts, begin = append(parts, strings.TrimSpace(s[begin:i])), i+1
			}
		}
	}
	return append(parts, strings.TrimSpace(s[begin:]))
}

// imported reads an import of names.
func (p *pyParser) imported(line string) {
	m := pyImportForm().FindStringSubmatch(line)
	if m == nil {
		if name, as, ok := strings.Cut(strings.TrimPrefix(line, "import "), " as "); ok {
			p.module.imports[strings.TrimSpace(as)] = strings.TrimSpace(name)
		}
		return
	}
	from := m[2]
	if up := len(m[1]); up > 0 {
		if p.isPackage {
			up--
		}
		parts := strings.Split(p.module.name, ".")
		if up > len(parts) {
			return
		}
		from = strings.Trim(strings.Join(parts[:len(parts)-up], ".")+"."+from, ".")
	}
	for _, name := range strings.Split(strings.Trim(m[3], "() "), ",") {
		name, as, _ := strings.Cut(strings.TrimSpace(name), " as ")
		switch name = strings.TrimSpace(name); {
		case name == "*":
			p.module.stars = append(p.module.stars, from)
		case name != "":
			if as = strings.TrimSpace(as); as == "" {
				as = name
			}
			p.module.imports[as] = from + "." + name
		}
	}
}
