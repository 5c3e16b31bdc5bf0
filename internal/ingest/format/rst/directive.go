package rst

import (
	"encoding/csv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// explicit reads what two points begin: a label, a footnote, a directive, a
// comment.
func (p *parser) explicit(lines []mdwriter.Line, sections bool) int {
	n := 1 + indented(lines[1:], 1)
	head := strings.TrimSpace(strings.TrimPrefix(lines[0].Text, ".."))
	switch {
	case strings.HasPrefix(head, "_"):
		if name, target, ok := strings.Cut(head[1:], ":"); ok && strings.TrimSpace(target) == "" && name != "_" {
			if name = strings.Trim(name, "`"); name != "" {
				p.pending = append(p.pending, strings.ReplaceAll(strings.ToLower(name), " ", "-"))
			}
		}
		return n
	case strings.HasPrefix(head, "["):
		if name, rest, ok := strings.Cut(head, "]"); ok {
			p.flushAnchors()
			p.body(append([]mdwriter.Line{{Text: strings.TrimLeft(name, "[#*") + ": " + strings.TrimSpace(rest), From: lines[0].From}}, dedent(lines[1:n])...), false)
		}
		return n
	case strings.HasPrefix(head, "|"):
		return n
	}
	name, argument, ok := strings.Cut(head, "::")
	if !ok || name == "" || strings.ContainsAny(name, " `") {
		return n // a comment
	}
	d := directive{name: name, argument: strings.TrimSpace(argument), from: lines[0].From}
	d.body = d.cutOptions(dedent(lines[1:n]))
	p.directive(d, sections)
	return n
}

type directive struct {
	name, argument string
	options        map[string]string
	body           []mdwriter.Line
	from           int
}

// cutOptions takes the rest of the argument, and the options under it, off a
// directive's lines.
func (d *directive) cutOptions(lines []mdwriter.Line) []mdwriter.Line {
	d.options = map[string]string{}
	argument := []string{d.argument}
	defer func() { d.argument = strings.Join(argument, "\n") }()
	for i, l := range lines {
		if l.Text == "" {
			return lines[i:]
		}
		name, value, ok := field(l.Text)
		if !ok {
			if len(d.options) > 0 || !d.wraps() {
				return lines[i:]
			}
			argument = append(argument, strings.TrimSpace(l.Text))
			continue
		}
		d.options[name] = value
	}
	return nil
}

// wraps reports whether the argument may go on on lines of its own.
func (d *directive) wraps() bool { return shape(d.name) == definition || shape(d.name) == index }

// A form is what is made of a directive.
type form int

const (
	dropped form = iota
	code
	note
	changed // since a version
	content // of which only the body is read
	titled  // the same, with a title
	index
	definition
)

// shape says what to make of a directive by its name. An unknown one with a
// domain, or that ends a definition's signature, defines a name.
func shape(name string) form {
	switch name {
	case "toctree", "contents", "image", "include", "raw", "meta", "highlight", "default-role", "role", "tabularcolumns",
		"sectnum", "section-numbering", "header", "footer", "target-notes", "title", "literalinclude", "autosummary",
		"automodule", "autoclass", "autofunction", "automethod", "autoattribute", "autodata", "autoexception",
		"module", "currentmodule", "program", "py:module", "py:currentmodule", "c:namespace", "cpp:namespace", "js:module",
		"sectionauthor", "moduleauthor", "codeauthor", "bibliography", "plot", "graphviz", "mermaid", "uml", "youtube",
		"inheritance-diagram", "unicode", "date", "replace", "testsetup", "testcleanup":
		return dropped
	case "code-block", "code", "sourcecode", "parsed-literal", "doctest", "testcode", "testoutput", "ipython", "prompt",
		"productionlist", "math", "console", "cmake", "jupyter-execute", "code-cell", "highlightlang", "grammar-snippet":
		return code
	case "note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error", "seealso", "todo",
		"impl-detail", "availability":
		return note
	case "versionadded", "versionchanged", "versionremoved", "deprecated", "deprecated-removed", "versionextended":
		return changed
	case "only", "ifconfig", "container", "class", "rst-class", "compound", "epigraph", "highlights", "pull-quote", "hlist",
		"glossary", "centered", "figure", "grid", "tab-set", "card", "div", "tabs", "compat-note", "snippet":
		return content
	case "admonition", "topic", "sidebar", "rubric", "tab-item", "tab", "grid-item-card", "dropdown", "details", "table",
		"console-tab", "group-tab":
		return titled
	case "index":
		return index
	case "list-table", "csv-table":
		return content
	}
	return definition
}

func (p *parser) directive(d directive, sections bool) {
	switch d.name {
	case "module", "currentmodule", "py:module", "py:currentmodule", "js:module":
		p.module, p.scope = d.argument, nil
		if d.name == "module" || d.name == "py:module" {
			p.w.Anchor("module-" + d.argument)
			p.w.Term(d.argument)
		}
		return
	case "highlight", "highlightlang":
		p.language = language(d.argument)
		return
	case "list-table", "csv-table":
		p.flushAnchors()
		p.label(d.argument, d.from)
		if d.name == "list-table" {
			p.listTable(d.body)
		} else {
			p.csvTable(d)
		}
		return
	case "class": // of Python or, with a body, of a style sheet
		if !strings.ContainsAny(d.argument, "(.") && strings.ToLower(d.argument) == d.argument && p.module == "" {
			p.body(d.body, sections)
			return
		}
		p.definitionOf(d, sections)
		return
	}
	switch shape(d.name) {
	case dropped:
	case code:
		p.flushAnchors()
		p.code(d)
	case note:
		p.flushAnchors()
		p.admonition(noteTitle(d.name), d.argument, d.body, d.from)
	case changed:
		p.flushAnchors()
		p.versionNote(d)
	case content:
		p.flushAnchors()
		if d.name == "centered" {
			p.label(d.argument, d.from)
		}
		p.body(d.body, sections)
	case titled:
		p.flushAnchors()
		p.label(d.argument, d.from)
		p.body(d.body, false)
	case index:
		p.terms(d)
	case definition:
		p.definitionOf(d, sections)
	}
}

// label writes the title of something that is no section.
func (p *parser) label(title string, from int) {
	if title != "" {
		p.w.Text("**"+mdwriter.Plain(p.inline(title))+"**", from)
	}
}

func (p *parser) code(d directive) {
	lang := language(d.argument)
	switch d.name {
	case "doctest", "testcode", "ipython", "jupyter-execute", "code-cell":
		lang = "python"
	case "prompt":
		lang = "sh"
	case "math":
		lang = "latex"
		if d.argument != "" {
			d.body = append([]mdwriter.Line{{Text: d.argument, From: d.from}}, d.body...)
		}
	case "parsed-literal", "productionlist", "testoutput", "grammar-snippet":
		lang = ""
	case "code-block", "code", "sourcecode":
		if lang == "" {
			lang = p.language
		}
	}
	p.label(d.options["caption"], d.from)
	p.w.Code(lang, d.body)
}

// language is a language's name as fences have it, "" for none.
func language(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(s), " ")
	switch s {
	case "none", "text", "default":
		return ""
	case "python3", "py", "py3":
		return "python"
	case "shell", "bash", "console", "shell-session":
		return "sh"
	}
	return s
}

func noteTitle(name string) string {
	switch name {
	case "seealso":
		return "See also"
	case "impl-detail":
		return "Implementation detail"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// admonition writes "**Note:** text" and what else belongs to it.
func (p *parser) admonition(title, argument string, body []mdwriter.Line, from int) {
	lines := append([]mdwriter.Line{{Text: argument, From: from}}, body...)
	for len(lines) > 0 && lines[0].Text == "" {
		lines = lines[1:]
	}
	title = "**" + title + ":**"
	if len(lines) == 0 {
		return
	}
	if _, mark := marker(lines[0].Text); mark != "" || lines[0].Text[0] == '.' {
		lines = append([]mdwriter.Line{{Text: title, From: from}, {From: from}}, lines...)
	} else {
		lines[0].Text = title + " " + lines[0].Text
	}
	p.body(lines, false)
}

func (p *parser) versionNote(d directive) {
	version, rest, _ := strings.Cut(d.argument, " ")
	what := map[string]string{
		"versionadded": "Added in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version",
		"deprecated-removed": "Deprecated since version", "versionremoved": "Removed in version", "versionextended": "Extended in version",
	}[d.name]
	if d.name == "deprecated-removed" {
		if gone, more, _ := strings.Cut(rest, " "); gone != "" {
			version, rest = version+", removed in "+gone, more
		}
	}
	p.admonition(what+" "+version, rest, d.body, d.from)
}

// terms takes what the index of a book would have of this place.
func (p *parser) terms(d directive) {
	entries := strings.Split(d.argument, "\n")
	for _, l := range d.body {
		entries = append(entries, l.Text)
	}
	for _, e := range entries {
		kind, names, ok := strings.Cut(e, ":")
		if kind = strings.Trim(kind, "! "); !ok || strings.Contains(kind, " ") || kind == "see" || kind == "seealso" {
			if ok {
				continue
			}
			for name := range strings.SplitSeq(e, ",") {
				p.w.Term(name)
			}
			continue
		}
		p.w.Term(strings.Join(strings.Fields(strings.ReplaceAll(names, ";", " ")), " "))
	}
}

// csvTable makes a table of values parted by commas.
func (p *parser) csvTable(d directive) {
	r := csv.NewReader(strings.NewReader(d.options["header"] + "\n" + join(d.body)))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	if delimiter := d.options["delim"]; len(delimiter) == 1 {
		if r.Comma = rune(delimiter[0]); r.Comma == '"' {
			r.Comma = ','
		}
	}
	records, err := r.ReadAll()
	if err != nil {
		p.w.Code("", d.body)
		return
	}
	var rows []mdwriter.Row
	for _, record := range records {
		cells := make([][]string, len(record))
		for i, c := range record {
			cells[i] = []string{c}
		}
		rows = append(rows, p.row(cells, d.from))
	}
	p.w.Table(rows)
}

// definitionOf reads the definition of a name: a section of its own, where
// sections may be.
func (p *parser) definitionOf(d directive, sections bool) {
	var signatures []string
	for s := range strings.SplitSeq(d.argument, "\n") {
		if s = strings.TrimSpace(strings.TrimSuffix(s, `\`)); s != "" {
			signatures = append(signatures, unescape(s))
		}
	}
	if len(signatures) == 0 { // nothing is named: a directive that is not known
		p.flushAnchors()
		p.body(d.body, false)
		return
	}
	if !sections {
		p.flushAnchors()
		p.w.Push("- ", "  ")
		for _, s := range signatures {
			p.w.Text(mdwriter.CodeSpan(s), d.from)
		}
		p.body(d.body, false)
		p.w.Pop()
		return
	}
	level, scope := p.level+1+len(p.scope), p.scope
	name := p.full(d.name, nameOf(signatures[0]))
	p.w.Heading(level, headingOf(d.name, signatures[0]), d.from)
	p.flushAnchors()
	p.w.Anchor(name)
	p.w.Term(name)
	if len(signatures) > 1 || signatures[0] != headingOf(d.name, signatures[0]) {
		for _, s := range signatures {
			p.w.Text(mdwriter.CodeSpan(s), d.from)
			p.w.Tight()
		}
	}
	p.scope = append(scope[:len(scope):len(scope)], nameOf(signatures[0]))
	p.body(d.body, true)
	p.scope = scope
	p.w.Resume(level - 1)
}

// headingOf is a definition's heading: "class Kettle" of "class:: Kettle(size)".
func headingOf(directive, signature string) string {
	directive = directive[strings.LastIndexByte(directive, ':')+1:]
	switch name := nameOf(signature); directive {
	case "class", "exception":
		return directive + " " + name
	case "function", "method", "classmethod", "staticmethod", "decorator":
		return name + "()"
	default:
		return name
	}
}

// nameOf is the name that a signature defines.
func nameOf(signature string) string {
	if i := strings.IndexByte(signature, '('); i > 0 {
		signature = signature[:i]
	}
	fields := strings.Fields(signature)
	if len(fields) == 0 {
		return signature
	}
	if strings.HasPrefix(fields[0], "-") { // an option, and what it takes
		return strings.TrimRight(fields[0], ",=")
	}
	return strings.Trim(fields[len(fields)-1], "*&;:")
}

// full is the name with those of the class and module around it.
func (p *parser) full(directive, name string) string {
	if i := strings.IndexByte(directive, ':'); i > 0 && directive[:i] != "py" {
		return name
	}
	if directive == "option" || directive == "envvar" || directive == "describe" {
		return name
	}
	parts := append(p.scope[:len(p.scope):len(p.scope)], name)
	if p.module != "" && !strings.HasPrefix(parts[0], p.module+".") {
		parts = append([]string{p.module}, parts...)
	}
	if n := len(p.scope); n > 0 && strings.HasPrefix(name, p.scope[n-1]+".") {
		parts = append(parts[:len(parts)-2], name)
	}
	return strings.Join(parts, ".")
}
