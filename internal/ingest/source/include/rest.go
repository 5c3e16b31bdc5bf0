package include

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// rest is the dialect of reStructuredText, with Sphinx's literalinclude and autodoc.
type rest struct {
	*expander
	literal int // indentation of the line above a literal block, plus 1; 0: none
}

var (
	restForm     = document.Lazily(`^([ \t]*)\.\.[ \t]+(include|literalinclude|auto[a-z]+|(?:py:)?(?:current)?module)::[ \t]*(.*)$`)
	literalBlock = document.Lazily(`^\s*\.\.\s+(?:code-block|code|sourcecode|parsed-literal|highlight|prompt|math|raw)::`)
	optionLine   = document.Lazily(`^:([\w-]+):[ \t]*(.*)$`)
)

func (r *rest) mayInclude(line string) bool {
	return strings.Contains(line, ".. ") && restForm().MatchString(line)
}

// A restDirective is a directive of reStructuredText or, in a fence, of MyST.
type restDirective struct {
	indent, name, argument string
	options                map[string]string
	body                   []string // without indentation
}

// directive parses the directive on the first line and returns its number of lines.
func directive(lines []string) (d restDirective, n int) {
	m := restForm().FindStringSubmatch(lines[0])
	if m == nil {
		return d, 0
	}
	d = restDirective{indent: m[1], name: strings.TrimPrefix(m[2], "py:"), argument: strings.TrimSpace(m[3])}
	n = 1
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if len(indentOf(lines[i])) <= len(d.indent) {
			break
		}
		n = i + 1
	}
	d.cutOptions(dedented(lines[1:n]))
	return d, n
}

// cutOptions takes the options from the beginning of a directive's lines.
func (d *restDirective) cutOptions(lines []string) {
	d.options = map[string]string{}
	last := ""
	for i, l := range lines {
		m := optionLine().FindStringSubmatch(l)
		switch {
		case m != nil:
			last = m[1]
			d.options[last] = strings.TrimSpace(m[2])
		case last != "" && indentOf(l) != "":
			d.options[last] += " " + strings.TrimSpace(l)
		default:
			d.body = lines[i:]
			return
		}
	}
}

func (d *restDirective) has(option string) bool { _, ok := d.options[option]; return ok }

func (r *rest) replace(f *file, i int) (out []string, n int) {
	line := f.lines[i]
	bare := strings.TrimSpace(line)
	if bare == "" {
		return nil, 0
	}
	if r.literal > 0 && len(indentOf(line)) >= r.literal {
		return nil, 0
	}
	r.literal = 0
	d, n := directive(f.lines[i:])
	switch {
	case n == 0:
		if strings.HasSuffix(bare, "::") && !strings.HasPrefix(bare, ".. ") || literalBlock().MatchString(line) {
			r.literal = len(indentOf(line)) + 1
		}
		return nil, 0
	case d.name == "module" || d.name == "currentmodule":
		r.current = d.argument
		return nil, 0
	case d.name == "include" || d.name == "literalinclude":
		out, ok := r.restInclude(f, d)
		if !ok {
			return nil, n
		}
		return append(indented(d.indent, out), ""), n
	}
	found, ok := r.autodoc(d)
	if !ok {
		return nil, 0
	}
	for _, def := range found {
		switch {
		case def.summary:
			out = append(out, "* ``"+def.name+"``: "+summary(def.doc))
		case def.kind == "module":
			out = append(append(out, ".. py:module:: "+def.name, ""), restDoc(def.doc)...)
			out = append(out, "")
			for _, m := range def.shown {
				out = append(out, restDefinition(m.name, m, nil)...)
			}
		default:
			out = append(out, restDefinition(def.name, def.pyMember, nil)...)
			out = append(out, indented("   ", d.body)...)
			out = append(out, "")
			for _, m := range def.shown {
				out = append(out, indented("   ", restDefinition(m.name, m, nil))...)
			}
		}
	}
	if len(found) == 0 && d.name != "autosummary" && len(d.body) > 0 {
		out = append([]string{".. py:" + strings.TrimPrefix(d.name, "auto") + ":: " + d.argument, ""},
			indented("   ", d.body)...)
	}
	return append(indented(d.indent, out), ""), n
}

// restInclude returns the included lines. ok is false if there is no file.
func (e *expander) restInclude(f *file, d restDirective) (lines []string, ok bool) {
	if d.argument == "" || strings.HasPrefix(d.argument, "<") {
		return nil, false // a file of docutils
	}
	t := target{path: d.argument, part: d.part()}
	name, lines, err := e.include(f.name, t)
	if err != nil {
		if err != errCycle {
			e.miss(d.argument)
		}
		return nil, false
	}
	if object := d.options["pyobject"]; object != "" {
		lines = objectLines(lines, object)
	}
	language := d.options["language"]
	if language == "" {
		language = d.options["code"]
	}
	if language == "" {
		language = strings.TrimPrefix(path.Ext(name), ".")
	}
	switch {
	case d.name == "include" && !d.has("literal") && !d.has("code"):
		return e.nested(name, lines), true
	case isMarkdown(f.name):
		return codeBlock(language, dedented(lines)), true
	}
	out := []string{".. code-block:: " + language}
	if d.options["caption"] != "" {
		out = append(out, "   :caption: "+d.options["caption"])
	}
	return append(append(out, ""), indented("   ", dedented(lines))...), true
}

// part returns the part of the file that the options select.
func (d *restDirective) part() part {
	p := part{
		after: d.options["start-after"] + d.options["start-at"], before: d.options["end-before"] + d.options["end-at"],
		withFirst: d.has("start-at"), withLast: d.has("end-at"),
	}
	p.ranges = parseRanges(d.options["lines"], "-")
	if d.has("start-line") || d.has("end-line") {
		p.ranges = append(p.ranges, lineRange{number(d.options["start-line"]) + 1, number(d.options["end-line"])})
	}
	return p
}

// objectLines returns the lines of a class or function of Python.
func objectLines(lines []string, object string) []string {
	for _, name := range strings.Split(object, ".") {
		form, err := regexp.Compile(`^\s*(?:async\s+def|def|class)\s+` + regexp.QuoteMeta(name) + `\b`)
		first := -1
		if err == nil {
			first = slices.IndexFunc(lines, form.MatchString)
		}
		if first < 0 {
			return nil
		}
		indent := len(indentOf(lines[first]))
		end := first + 1
		for end < len(lines) && (strings.TrimSpace(lines[end]) == "" || len(indentOf(lines[end])) > indent ||
			strings.HasPrefix(strings.TrimSpace(lines[end]), ")")) {
			end++
		}
		for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "@") {
			first--
		}
		for strings.TrimSpace(lines[end-1]) == "" {
			end--
		}
		lines = lines[first:end]
	}
	return lines
}

// A shownDefinition is a definition with the members that a directive shows.
type shownDefinition struct {
	name string // as the directive has it
	*pyMember
	shown   []*pyMember
	summary bool // only the first sentence
}

// autodoc returns the definitions that a directive of autodoc or autosummary shows. ok is
// false for another directive.
func (e *expander) autodoc(d restDirective) (found []shownDefinition, ok bool) {
	switch d.name {
	case "autosummary":
		for _, line := range d.body {
			fields := strings.Fields(line)
			if len(fields) == 0 || strings.HasPrefix(fields[0], "..") {
				continue
			}
			name := strings.TrimLeft(fields[0], "~!")
			all := selection{all: d.has("toctree")}
			if def, ok := e.shown(name, all); ok {
				def.summary = !d.has("toctree")
				found = append(found, def)
			}
		}
		return found, true
	case "automodule", "autoclass", "autoexception", "autofunction", "automethod", "autoattribute", "autodata",
		"autodecorator", "autoproperty":
	default:
		return nil, false
	}
	name, signature, explicit := strings.Cut(d.argument, "(")
	name = strings.ReplaceAll(strings.TrimSpace(name), "::", ".")
	if d.name == "automodule" {
		e.current = name
	}
	def, ok := e.shown(name, e.selection(d))
	if !ok {
		return nil, true
	}
	copied := *def.pyMember
	def.pyMember = &copied
	if explicit {
		def.signature = "(" + signature
	}
	if d.name == "autoexception" {
		def.kind = "exception"
	}
	return []shownDefinition{def}, true
}

// shown looks a name up, first in the current module.
func (e *expander) shown(name string, s selection) (shownDefinition, bool) {
	for _, prefix := range []string{e.current + ".", ""} {
		if prefix == "." || prefix == "None." {
			continue
		}
		if d, module := e.definition(prefix+name, 0); d != nil {
			def := shownDefinition{name: name, pyMember: e.inherit(d, module), shown: e.members(d, module, s)}
			size := 0
			for _, m := range append(def.shown, def.pyMember) {
				size += len(m.name) + len(m.signature) + len(m.doc)
			}
			if e.left -= size; e.left >= 0 {
				return def, true
			}
			break
		}
	}
	e.Reference = append(e.Reference, name)
	return shownDefinition{}, false
}

var defaultMembers = document.Lazily(`autodoc_default_(?:options|flags)\s*=\s*[\[{][^\]}]*["']members["']`)

// selection returns the members that the options of a directive select.
func (e *expander) selection(d restDirective) selection {
	list := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	}
	s := selection{
		names: list(d.options["members"]), exclude: list(d.options["exclude-members"]),
		inherited: d.has("inherited-members"),
		undoc:     d.has("undoc-members"), private: d.has("private-members"),
		special: list(d.options["special-members"]),
	}
	s.all = d.has("members") && len(s.names) == 0
	if !d.has("members") && !d.has("no-members") &&
		(d.name == "autoclass" || d.name == "automodule" || d.name == "autoexception") {
		if e.defaults == nil {
			text, _ := e.files.Read(path.Join(e.folderWith("conf.py"), "conf.py"))
			found := defaultMembers().MatchString(text)
			e.defaults = &found
		}
		s.all = *e.defaults
	}
	return s
}

// summary returns the first sentence of a docstring.
func summary(doc string) string {
	paragraph, _, _ := strings.Cut(doc, "\n\n")
	return strings.Join(strings.Fields(paragraph), " ")
}

var (
	mystForm        = document.Lazily("^([ \t]*)(`{3,}|~{3,}|:{3,})\\{(include|literalinclude|eval-rst|auto[a-z]+|(?:py:)?(?:current)?module)\\}[ \t]*(.*)$")
	mkdocstringForm = document.Lazily(`^([ \t]*):::[ \t]+([A-Za-z_]\w*(?:\.\w+)+)[ \t]*$`)
	listMark        = document.Lazily(`^[ \t]*[*-][ \t]+(\.\. )`)
	membersForm     = document.Lazily(`^[ \t]*:?members:[ \t]*(.*)$`)
)

// reference replaces the directives of MyST and mkdocstrings.
func (m *markdown) reference(f *file, i int) (out []string, n int) {
	if found := mystForm().FindStringSubmatch(f.lines[i]); found != nil {
		return m.myst(f, i, found)
	}
	found := mkdocstringForm().FindStringSubmatch(f.lines[i])
	if found == nil {
		return nil, 0
	}
	s := selection{all: true}
	n = 1
	for n < len(f.lines)-i && strings.TrimSpace(f.lines[i+n]) != "" && len(indentOf(f.lines[i+n])) > len(found[1]) {
		if option := membersForm().FindStringSubmatch(f.lines[i+n]); option != nil {
			s.all = false
			s.names = append(s.names, strings.Fields(strings.Trim(strings.ReplaceAll(option[1], ",", " "), "[]"))...)
		} else if bare := strings.TrimSpace(f.lines[i+n]); strings.HasPrefix(bare, "- ") && !s.all {
			s.names = append(s.names, strings.Trim(bare[2:], `"' `))
		}
		n++
	}
	if len(s.names) == 1 && (s.names[0] == "true" || s.names[0] == "yes") {
		s = selection{all: true}
	}
	if def, ok := m.shown(found[2], s); ok {
		out = indented(found[1], markdownDefinition(def.name, def.pyMember, def.shown, f.level+1))
	}
	return out, n
}

// myst replaces a fence that begins on line i and holds a directive.
func (m *markdown) myst(f *file, i int, found []string) (out []string, n int) {
	n = 1
	for n < len(f.lines)-i && strings.TrimSpace(f.lines[i+n]) != found[2] {
		n++
	}
	inner := slices.Clone(f.lines[i+1 : i+n])
	n = min(n+1, len(f.lines)-i)
	d := restDirective{indent: found[1], name: strings.TrimPrefix(found[3], "py:"),
		argument: strings.TrimSpace(found[4])}
	d.cutOptions(inner)
	switch d.name {
	case "include", "literalinclude":
		lines, _ := m.restInclude(f, d)
		return indented(d.indent, lines), n
	case "module", "currentmodule":
		m.current = d.argument
		return nil, n
	case "eval-rst":
		known := false
		for k := range inner { // a directive may be the item of a list
			inner[k] = listMark().ReplaceAllString(inner[k], "$1")
		}
		for k := 0; k < len(inner); k++ {
			d, lines := directive(inner[k:])
			if lines == 0 {
				continue
			}
			k += lines - 1
			if strings.HasSuffix(d.name, "module") && d.name != "automodule" {
				m.current = d.argument
				known = true
			} else if defs, ok := m.autodoc(d); ok {
				known = true
				out = append(out, m.written(f, defs, d.body)...)
			}
		}
		if !known {
			return nil, 0
		}
		return indented(found[1], out), n
	}
	defs, ok := m.autodoc(d)
	if !ok {
		return nil, 0
	}
	return indented(d.indent, m.written(f, defs, d.body)), n
}

// written returns definitions as Markdown.
func (m *markdown) written(f *file, defs []shownDefinition, body []string) (out []string) {
	for _, def := range defs {
		if def.summary {
			out = append(out, "- `"+def.name+"`: "+summary(def.doc))
			continue
		}
		out = append(out, markdownDefinition(def.name, def.pyMember, def.shown, f.level+1)...)
	}
	return append(out, body...)
}
