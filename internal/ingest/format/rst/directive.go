package rst

import (
	"cmp"
	"encoding/csv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// explicit parses explicit markup, which begins with two dots: a label, a
// footnote, a directive, a comment.
func (p *parser) explicit(lines []mdwriter.Line, sections bool) int {
	n := 1 + indented(lines[1:])
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
			p.body(append([]mdwriter.Line{{Text: strings.TrimLeft(name, "[#*") + ": " + strings.TrimSpace(rest), From: lines[0].From}}, mdwriter.Dedent(lines[1:n])...), false)
		}
		return n
	case strings.HasPrefix(head, "|"):
		return n
	}
	name, argument, ok := strings.Cut(head, "::")
	if !ok || name == "" || strings.ContainsAny(name, " `") {
		return n // comment
	}
	d := directive{name: name, argument: strings.TrimSpace(argument), from: lines[0].From}
	d.body = d.cutOptions(mdwriter.Dedent(lines[1:n]))
	p.directive(d, sections)
	return n
}

type directive struct {
	name, argument string
	options        map[string]string
	body           []mdwriter.Line
	from           int
}

// cutOptions removes the rest of the argument, and the options below it, from a
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

// wraps reports whether the argument may continue on further lines.
func (d *directive) wraps() bool { return formOf(d.name) == definition || formOf(d.name) == index }

// A form is the treatment of a directive.
type form int

const (
	dropped form = iota
	code
	note
	changed // version notes
	content // only the body is kept
	titled  // only the body and a title are kept
	index
	definition
)

// formOf returns the form of a directive by its name. Unknown directives are
// treated as definitions, such as those of Sphinx domains.
func formOf(name string) form {
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
	case "class": // Python class, or with a body a CSS class
		if !strings.ContainsAny(d.argument, "(.") && strings.ToLower(d.argument) == d.argument && p.module == "" {
			p.body(d.body, sections)
			return
		}
		p.definitionOf(d, sections)
		return
	}
	if d.name == "image" || d.name == "figure" {
		if text := mdwriter.Image(d.options["alt"]); text != "" {
			p.flushAnchors()
			p.w.Text(text, d.from)
		}
	}
	switch formOf(d.name) {
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

// label writes the title of something that is not a section.
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
		lang = cmp.Or(lang, p.language)
	}
	p.label(d.options["caption"], d.from)
	p.w.Code(lang, d.body)
}

// language returns the name of a language for fences, or "".
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

// admonition writes "**Note:** text" and the rest of the body.
func (p *parser) admonition(title, argument string, body []mdwriter.Line, from int) {
	lines := append([]mdwriter.Line{{Text: argument, From: from}}, body...)
	lines = lines[mdwriter.Blank(lines):]
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

// terms adds index terms.
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

// csvTable converts comma-separated values to a table.
func (p *parser) csvTable(d directive) {
	r := csv.NewReader(strings.NewReader(d.options["header"] + "\n" + mdwriter.Join(d.body)))
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

// definitionOf parses the definition of a name. Where sections are allowed, it
// becomes a section.
func (p *parser) definitionOf(d directive, sections bool) {
	var signatures []string
	for s := range strings.SplitSeq(d.argument, "\n") {
		if s = strings.TrimSpace(strings.TrimSuffix(s, `\`)); s != "" {
			signatures = append(signatures, unescape(s))
		}
	}
	if len(signatures) == 0 { // an unknown directive without a name
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
	name := p.qualified(d.name, nameOf(signatures[0]))
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

// headingOf returns the heading of a definition: "class Kettle" for "class::
// Kettle(size)".
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

// nameOf returns the name that a signature defines.
func nameOf(signature string) string {
	if i := strings.IndexByte(signature, '('); i > 0 {
		signature = signature[:i]
	}
	fields := strings.Fields(signature)
	if len(fields) == 0 {
		return signature
	}
	if strings.HasPrefix(fields[0], "-") { // an option and its argument
		return strings.TrimRight(fields[0], ",=")
	}
	return strings.Trim(fields[len(fields)-1], "*&;:")
}

// qualified returns the name with those of the enclosing class and module.
func (p *parser) qualified(directive, name string) string {
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
