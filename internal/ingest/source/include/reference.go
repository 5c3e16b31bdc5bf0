package include

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/rst"
)

// The reference of a Python package is in its docstrings. Sphinx's autodoc and mkdocstrings
// read them by importing the package; this reads the source files.

// maxImports limits how many imports lead from a name to its definition.
const maxImports = 10

// python resolves names of Python to their definitions.
type python struct {
	modules map[string]*pyMember
	tops    map[string]string // folder of each top-level package
	steps   int               // lookups so far
}

// maxSteps limits the lookups for a page.
const maxSteps = 20_000

// module returns the module with that full name, or nil.
func (e *expander) module(name string) *pyMember {
	if m, known := e.python.modules[name]; known {
		return m
	}
	top, _, _ := strings.Cut(name, ".")
	dir, known := e.python.tops[top]
	if !known {
		dir = e.findTop(top)
		e.python.tops[top] = dir
	}
	var m *pyMember
	if dir != "" {
		base := path.Join(dir, strings.ReplaceAll(name, ".", "/"))
		for _, file := range []string{base + "/__init__.py", base + ".py"} {
			if t := e.text(file); t.err == nil {
				m = parsePython(t.lines, name, strings.HasSuffix(file, "/__init__.py"))
				break
			}
		}
	}
	e.python.modules[name] = m
	return m
}

// findTop returns the folder with a top-level package, or "".
func (e *expander) findTop(name string) string {
	tried := len(e.Reads)
	for dir := range around(e.page) {
		for _, within := range []string{"", "src", "lib", "python"} {
			for _, file := range []string{"/__init__.py", ".py"} {
				if at := path.Join(dir, within, name) + file; e.text(at).err == nil {
					e.forget(tried, at)
					return path.Join(dir, within)
				}
			}
		}
	}
	return ""
}

// definition returns the definition of a full name, and the module that has it.
func (e *expander) definition(name string, imports int) (d, module *pyMember) {
	if e.python.steps++; imports > maxImports || e.python.steps > maxSteps {
		return nil, nil
	}
	parts := strings.Split(name, ".")
	for n := len(parts); n > 0; n-- {
		if module = e.module(strings.Join(parts[:n], ".")); module != nil {
			return e.within(module, parts[n:], imports)
		}
	}
	return nil, nil
}

// within returns the definition of the names within a module.
func (e *expander) within(module *pyMember, names []string, imports int) (d, home *pyMember) {
	if len(names) == 0 {
		return module, module
	}
	if d = module.member(names[0]); d != nil &&
		(d.kind != "attribute" || d.doc != "" || module.imports[names[0]] == "") {
		for _, name := range names[1:] {
			if d, module = e.attribute(d, module, name, imports); d == nil {
				return nil, nil
			}
		}
		return d, module
	}
	rest := strings.Join(names, ".")
	if from := module.imports[names[0]]; from != "" {
		return e.definition(strings.Join(append([]string{from}, names[1:]...), "."), imports+1)
	}
	for _, star := range module.stars {
		if d, home = e.definition(star+"."+rest, imports+1); d != nil {
			return d, home
		}
	}
	return nil, nil
}

// attribute returns a member of a class or of one that it inherits from.
func (e *expander) attribute(class, module *pyMember, name string, imports int) (d, home *pyMember) {
	if e.python.steps++; imports > maxImports || e.python.steps > maxSteps {
		return nil, nil
	}
	if d = class.member(name); d != nil {
		return d, module
	}
	for _, base := range class.bases {
		if inherited, home := e.within(module, strings.Split(base, "."), imports+1); inherited != nil &&
			inherited != class {
			if d, home = e.attribute(inherited, home, name, imports+1); d != nil {
				return d, home
			}
		}
	}
	return nil, nil
}

// A selection is the choice of members that a directive shows.
type selection struct {
	all       bool
	names     []string // if not all
	exclude   []string
	inherited bool
	undoc     bool
	private   bool
	special   []string
}

// members returns the chosen members of a definition.
func (e *expander) members(d, module *pyMember, s selection) (out []*pyMember) {
	if !s.all {
		for _, name := range s.names {
			m, _ := e.attribute(d, module, name, 0)
			if m == nil && d.kind == "module" {
				m, _ = e.within(d, []string{name}, 0)
			}
			if m != nil {
				out = append(out, m)
			}
		}
		return out
	}
	for _, m := range d.members {
		if m.doc == "" && d.kind == "class" {
			m = e.inheritFrom(m, d, module)
		}
		hidden := strings.HasPrefix(m.name, "_") && !s.private && !slices.Contains(s.special, m.name)
		if !hidden && (m.doc != "" || s.undoc) && !slices.Contains(s.exclude, m.name) {
			out = append(out, m)
		}
	}
	if s.inherited {
		for _, base := range d.bases {
			if e.python.steps++; e.python.steps > maxSteps {
				break
			}
			inherited, home := e.within(module, strings.Split(base, "."), 0)
			if inherited == nil || inherited == d || inherited.kind != "class" {
				continue
			}
			for _, m := range e.members(inherited, home, s) {
				if !slices.ContainsFunc(out, func(had *pyMember) bool { return had.name == m.name }) {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// inherit returns a class with the docstring and the arguments that it inherits.
func (e *expander) inherit(class, module *pyMember) *pyMember {
	d := *class
	for _, base := range class.bases {
		if d.kind != "class" || d.doc != "" && d.signature != "" {
			break
		}
		if e.python.steps++; e.python.steps > maxSteps {
			break
		}
		if inherited, home := e.within(module, strings.Split(base, "."), 0); inherited != nil && inherited != class {
			inherited = e.inherit(inherited, home)
			d.doc, d.signature = cmp.Or(d.doc, inherited.doc), cmp.Or(d.signature, inherited.signature)
		}
	}
	return &d
}

// inheritFrom returns a member of a class with the docstring of the member that it overrides.
func (e *expander) inheritFrom(m, class, module *pyMember) *pyMember {
	bases := *class
	bases.members = nil
	overridden, _ := e.attribute(&bases, module, m.name, 0)
	if overridden == nil || overridden.doc == "" {
		return m
	}
	d := *m
	d.doc = overridden.doc
	return &d
}

// isException reports whether a class is one of exceptions, by its name and those of its
// bases.
func isException(d *pyMember) bool {
	return d.kind == "class" && slices.ContainsFunc(append([]string{d.name}, d.bases...), func(name string) bool {
		return strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") ||
			strings.HasSuffix(name, "Warning")
	})
}

// restDefinition returns a definition as Sphinx writes it in reStructuredText.
func restDefinition(name string, d *pyMember, members []*pyMember) (lines []string) {
	kind := d.kind
	if kind == "class" && isException(d) {
		kind = "exception"
	}
	lines = []string{".. py:" + kind + ":: " + name + strings.ReplaceAll(d.signature, "\n", " "), ""}
	lines = append(lines, indented("   ", restDoc(d.doc))...)
	lines = append(lines, "")
	for _, m := range members {
		lines = append(lines, indented("   ", restDefinition(m.name, m, nil))...)
	}
	return lines
}

// markdownDefinition returns a definition as Markdown, with a heading of that level.
func markdownDefinition(name string, d *pyMember, members []*pyMember, level int) (lines []string) {
	heading, code := name, name+d.signature
	switch {
	case d.kind == "class" || d.kind == "exception":
		heading, code = d.kind+" "+name, d.kind+" "+code
	case d.kind != "attribute" && d.kind != "property" && d.kind != "module":
		heading += "()"
	}
	lines = []string{"", strings.Repeat("#", min(level, 6)) + " `" + heading + "`", ""}
	if d.kind != "module" {
		lines = append(lines, codeBlock("python", []string{strings.ReplaceAll(code, "\n", " ")})...)
		lines = append(lines, "")
	}
	lines = append(append(lines, markdownDoc(d.doc)...), "")
	for _, m := range members {
		inner := m.name
		if d.kind == "class" {
			inner = d.name + "." + m.name
		}
		lines = append(lines, markdownDefinition(inner, m, nil, level+1)...)
	}
	return lines
}

// docSections are the headings of docstrings in the styles of Google and NumPy. Those with
// entries are true.
var docSections = map[string]bool{
	"args": true, "arguments": true, "parameters": true, "params": true, "keyword args": true,
	"keyword arguments": true,
	"other parameters":  true, "attributes": true, "raises": true, "exceptions": true, "warns": true, "methods": true,
	"receives": true,
	"returns":  false, "return": false, "yields": false, "yield": false, "example": false, "examples": false,
	"note":  false,
	"notes": false, "warning": false, "warnings": false, "see also": false, "references": false, "todo": false,
}

// A docBlock is a part of a docstring.
type docBlock struct {
	title   string // of a section
	entries bool
	lines   []string // without indentation
}

var googleSection = document.Lazily(`^([A-Z][A-Za-z ]+):$`)

// docBlocks splits a docstring into its text and the sections of Google's and NumPy's styles.
func docBlocks(doc string) []docBlock {
	lines := strings.Split(doc, "\n")
	blocks := []docBlock{{}}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := googleSection().FindStringSubmatch(line); m != nil {
			entries, known := docSections[strings.ToLower(m[1])]
			n := i + 1
			for n < len(lines) && (lines[n] == "" || indentOf(lines[n]) != "") {
				n++
			}
			if known && n > i+1 {
				blocks = append(blocks, docBlock{m[1], entries, dedented(lines[i+1 : n])}, docBlock{})
				i = n - 1
				continue
			}
		}
		entries, known := docSections[strings.ToLower(line)]
		if known && i+1 < len(lines) && len(lines[i+1]) >= 3 && strings.Trim(lines[i+1], "-") == "" {
			n := i + 2
			for n < len(lines) && !(n+1 < len(lines) && len(lines[n+1]) >= 3 && strings.Trim(lines[n+1], "-=") == "" &&
				lines[n] != "") {
				n++
			}
			blocks = append(blocks, docBlock{line, entries, lines[i+2 : n]})
			if n < len(lines) && n > i+2 {
				blocks = append(blocks, docBlock{})
			}
			i = n - 1
			continue
		}
		last := &blocks[len(blocks)-1]
		last.lines = append(last.lines, line)
	}
	return blocks
}

// entry matches an entry of a docstring's section: "name (type): text" of Google, "name : type"
// of NumPy.
var entry = document.Lazily(`^(\*{0,2}[\w.]+(?:, *\*{0,2}[\w.]+)*)(?: *\(([^)]*)\))?(?: *: *(.*))?$`)

// restDoc returns a docstring as reStructuredText without titles.
func restDoc(doc string) (out []string) {
	for _, b := range docBlocks(doc) {
		if b.title != "" {
			out = append(out, "", "**"+b.title+"**", "")
		}
		for i, line := range b.lines {
			m := entry().FindStringSubmatch(line)
			if !b.entries || m == nil || line == "" {
				if i > 0 && b.title == "" && len(line) >= 3 && strings.Trim(line, "=-~^") == "" && b.lines[i-1] != "" {
					continue // the line below a title
				}
				out = append(out, line)
				continue
			}
			term := strings.ReplaceAll(m[1], "*", `\*`)
			switch numpy := strings.Contains(line, " : "); {
			case numpy:
				out = append(out, term+" : "+m[3])
			case m[2] != "":
				out = append(out, term+" : "+m[2], "    "+m[3])
			default:
				out = append(out, term, "    "+m[3])
			}
		}
	}
	return out
}

// restMark matches markup of reStructuredText that Markdown does not have.
var restMark = document.Lazily("(?m)^\\s*\\.\\. [\\w-]+::|:[\\w:]+:`|``\\S|^:(?:param|return|raise)\\w*\\b[^:]*:")

// markdownDoc returns a docstring as Markdown.
func markdownDoc(doc string) (out []string) {
	if restMark().MatchString(doc) {
		for _, s := range rst.Parse([]byte(strings.Join(restDoc(doc), "\n"))).Sections {
			if s.Heading != "" {
				out = append(out, "", "**"+s.Heading+"**", "")
			}
			for _, l := range s.Lines {
				out = append(out, l.Text)
			}
		}
		return out
	}
	for _, b := range docBlocks(doc) {
		if b.title != "" {
			out = append(out, "", "**"+b.title+"**", "")
		}
		for _, line := range b.lines {
			if m := entry().FindStringSubmatch(line); m != nil && b.entries {
				text := "- `" + m[1] + "`"
				if m[2] != "" {
					text += " (" + m[2] + ")"
				}
				line = strings.TrimRight(text+": "+m[3], ": ")
			}
			out = append(out, line)
		}
	}
	return out
}
