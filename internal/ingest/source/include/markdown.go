package include

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	mdformat "github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// markdown is the dialect of Markdown files: the directives of mdBook, Hugo, Jekyll,
// VitePress, MkDocs, and Docusaurus.
type markdown struct{ *expander }

func (m *markdown) mayInclude(line string) bool {
	for _, mark := range []string{"{{", "{%", "{!", "{*", "8<-", "<<<", "@include:", ":::", "```{"} {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return strings.HasPrefix(line, "import ") || startsRust(line)
}

func startsRust(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t`~"), "rust") }

// An inclusion is the result of a directive.
type inclusion struct {
	name  string   // file
	lines []string // nil: not found
	code  bool     // a block of code, unless the directive is within one
	asIs  bool     // a directive in code that names no file is an example of itself
	miss  string   // path of the file that was not found
}

func (m *markdown) replace(f *file, i int) (out []string, n int) {
	line := f.lines[i]
	bare := strings.TrimSpace(line)
	if !f.inCode {
		if level := len(line) - len(strings.TrimLeft(line, "#")); level > 0 && strings.HasPrefix(line[level:], " ") {
			f.level = level
		}
		if out, n := m.reference(f, i); n > 0 {
			return out, n
		}
	}
	wasCode := f.inCode
	f.inCode = f.fence.Next(bare)
	if f.inCode && !wasCode {
		f.rust = startsRust(bare) && strings.Trim(bare[:3], "`~") == ""
	}
	if f.inCode && f.rust && wasCode {
		if shown, hidden := rustLine(line); hidden {
			return nil, 1
		} else if shown != line {
			return []string{shown}, 1
		}
	}
	if strings.Contains(line, "{%") && (f.raw || strings.Contains(line, "raw")) {
		f.raw = rawMark().MatchString(line) || f.raw && !strings.Contains(line, "endraw")
		return nil, 0
	}
	if !m.mayInclude(line) && len(f.imports) == 0 {
		return nil, 0
	}
	if out, n := m.snippet(f, i); n > 0 {
		return out, n
	}
	if in, ok := m.wholeLine(f, line); ok {
		return m.write(f, indentOf(line), in, line), 1
	}
	return m.inline(f, line)
}

var rawMark = document.Lazily(`\{%-?\s*raw\s*-?%\}`)

// rustLine returns a line of Rust code as mdBook shows it.
func rustLine(line string) (shown string, hidden bool) {
	bare := strings.TrimLeft(line, " \t")
	switch {
	case bare == "#" || strings.HasPrefix(bare, "# "):
		return "", true
	case strings.HasPrefix(bare, "##"):
		return indentOf(line) + bare[1:], false
	}
	return line, false
}

// write returns the lines of an included file in place of a line.
func (m *markdown) write(f *file, indent string, in inclusion, line string) []string {
	if in.lines == nil {
		if in.asIs && f.inCode {
			return []string{line}
		}
		m.miss(in.miss)
		return nil
	}
	lines := in.lines
	if f.inCode && f.rust || !f.inCode && in.code && path.Ext(in.name) == ".rs" {
		lines = nil
		for _, l := range in.lines {
			if shown, hidden := rustLine(l); !hidden {
				lines = append(lines, shown)
			}
		}
	}
	switch {
	case f.inCode:
	case in.code:
		lines = codeBlock(strings.TrimPrefix(path.Ext(in.name), "."), lines)
	default:
		if isMarkdown(in.name) && len(lines) > 0 {
			lines = lines[mdformat.FrontMatterLines([]byte(strings.Join(lines, "\n"))):]
		}
		lines = m.nested(in.name, lines)
	}
	return indented(indent, lines)
}

func isMarkdown(name string) bool {
	ext := path.Ext(name)
	return mdformat.Reads(ext) || strings.EqualFold(ext, ".mdx")
}

func codeBlock(language string, lines []string) []string {
	fence := mdwriter.Fence(strings.Join(lines, "\n"))
	return append(append([]string{fence + language}, lines...), fence)
}

// get returns the inclusion of a target.
func (m *markdown) get(f *file, t target, in inclusion) inclusion {
	var err error
	if in.name, in.lines, err = m.include(f.name, t); err == nil {
		in.lines = append([]string{}, in.lines...)
	} else if err != errCycle {
		in.miss = t.String()
	}
	return in
}

var (
	// FastAPI: {* ../src/example.py ln[1:5] hl[3] *}
	codeForm   = document.Lazily(`^[ \t]*\{\*[ \t]+([^\s*{}]+)((?:[ \t]+[a-z]+\[[^\]]*\])*)[ \t]*\*\}[ \t]*$`)
	codeOption = document.Lazily(`([a-z]+)\[([^\]]*)\]`)
	// VitePress: <<< @/snippets/a.js#region{2,4 js} [title]
	vitePressForm = document.Lazily(`^[ \t]*<<<[ \t]*([^\s#{\[]+)(?:#([\w*-]+))?[ \t]*(?:\{[^}]*\})?[ \t]*(?:\[[^\]]*\])?[ \t]*$`)
	// VitePress: <!--@include: ./part.md#region{2,9}-->
	commentForm = document.Lazily(`^[ \t]*<!--[ \t]*@include:[ \t]*(.+?)(?:#([^\s{}]+))?(?:\{(\d*),?(\d*)\})?[ \t]*-->[ \t]*$`)
	// Docusaurus: <Part />, {Source}
	componentForm = document.Lazily(`^[ \t]*(?:<([A-Z]\w*)(?:\s[^<>]*)?/>|(?:<CodeBlock[^>]*>)?[ \t]*\{([A-Z]\w*)\}[ \t]*(?:</CodeBlock>)?)[ \t]*$`)
	importForm    = document.Lazily(`^import\s+(\w+)\s+from\s+['"]([^'"]+)['"]`)
)

// wholeLine returns the file included by a directive that takes a line of its own.
func (m *markdown) wholeLine(f *file, line string) (inclusion, bool) {
	if found := importForm().FindStringSubmatch(line); found != nil && !f.inCode {
		if f.imports == nil {
			f.imports = map[string]string{}
		}
		f.imports[found[1]] = found[2]
		return inclusion{}, false // the parser removes it
	}
	if found := componentForm().FindStringSubmatch(line); found != nil && !f.inCode {
		return m.component(f, found[1]+found[2])
	}
	if found := codeForm().FindStringSubmatch(line); found != nil && !f.inCode && strings.ContainsAny(found[1], "./") {
		t := target{path: found[1], first: m.folderWith("mkdocs.yml")}
		for _, option := range codeOption().FindAllStringSubmatch(found[2], -1) {
			if option[1] == "ln" {
				t.ranges, t.joint = append(t.ranges, parseRanges(option[2], ":")...), "..."
			}
		}
		return m.get(f, t, inclusion{code: true}), true
	}
	if found := vitePressForm().FindStringSubmatch(line); found != nil && !f.inCode &&
		strings.ContainsAny(found[1], "./") {
		return m.get(f, target{path: withoutAlias(found[1]), part: part{region: found[2]}}, inclusion{code: true}), true
	}
	if found := commentForm().FindStringSubmatch(line); found != nil && !f.inCode {
		t := target{path: withoutAlias(found[1]), part: part{region: found[2]}}
		if found[3]+found[4] != "" {
			t.ranges = []lineRange{{number(found[3]), number(found[4])}}
		}
		return m.get(f, t, inclusion{}), true
	}
	return inclusion{}, false
}

// component returns the file that a component of Docusaurus stands for.
func (m *markdown) component(f *file, name string) (inclusion, bool) {
	from, ok := f.imports[name]
	if !ok {
		return inclusion{}, false
	}
	raw := strings.Contains(from, "raw-loader!") || strings.HasSuffix(from, "?raw")
	from = strings.TrimSuffix(from[strings.LastIndexByte(from, '!')+1:], "?raw")
	if !raw && !isMarkdown(from) {
		return inclusion{}, false
	}
	return m.get(f, target{path: withoutAlias(from)}, inclusion{code: raw}), true
}

// withoutAlias removes a generator's prefix for the top of the site.
func withoutAlias(name string) string {
	for _, alias := range []string{"@site/", "@@/", "@/", "~/", "~~/"} {
		if rest, ok := strings.CutPrefix(name, alias); ok {
			return rest
		}
	}
	return name
}

var (
	// mdBook: {{#include a.rs:anchor}}
	mdBookForm = document.Lazily(`\\?\{\{\s*#(include|rustdoc_include|playground|playpen|title)\s+([^{}]+?)\s*\}\}`)
	// Hugo: {{% include "a.md" %}}
	hugoForm = document.Lazily(`\{\{[%<]\s*([\w/-]+)((?:\s+(?:[\w-]+\s*=\s*)?(?:"[^"]*"|` + "`[^`]*`" + `|[^\s"` + "`" +
		`<>%{}]+))+)\s*/?[%>]\}\}`)
	// Jekyll, Liquid, and the plugins of MkDocs: {% include a.md key="value" %}, {% include-markdown "a.md" %}
	liquidForm = document.Lazily(`\{%-?\s*(include|include_relative|include_cached|include-markdown|rinclude|data|snippet|render)\s+(?:"([^"]+)"|'([^']+)'|([^\s%'"]+))((?:[^%]|%[^}])*?)-?%\}`)
	// MkDocs: {!> ../a.py!}
	bangForm  = document.Lazily(`\{!>?\s*([^!{}]+?)\s*!\}`)
	parameter = document.Lazily(`([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// inline replaces the directives within a line.
func (m *markdown) inline(f *file, line string) (out []string, n int) {
	rest, done := line, false
	var text strings.Builder
	for {
		at, in, ok := m.next(f, rest)
		if !ok {
			break
		}
		done = true
		before := rest[:at[0]]
		rest = rest[at[1]:]
		written := m.write(f, "", in, line[len(line)-len(rest)-(at[1]-at[0]):len(line)-len(rest)])
		text.WriteString(before)
		switch alone := strings.TrimSpace(text.String()+rest) == ""; {
		case alone:
			return append(out, indented(indentOf(line), written)...), 1
		case len(written) == 1 || f.inCode:
			text.WriteString(strings.Join(written, "\n"))
		case len(written) > 1:
			out = append(out, strings.TrimRight(text.String(), " \t"), "")
			out = append(append(out, written...), "")
			text.Reset()
			rest = strings.TrimLeft(rest, " \t")
		}
	}
	if !done {
		return nil, 0
	}
	if last := text.String() + rest; strings.TrimSpace(last) != "" {
		out = append(out, strings.Split(strings.TrimRight(last, " \t"), "\n")...)
	}
	return out, 1
}

// next returns the place of the next directive in a line, and its inclusion.
func (m *markdown) next(f *file, line string) (at []int, in inclusion, ok bool) {
	try := func(form *regexp.Regexp, read func(found []string) (inclusion, bool)) {
		for from := 0; from < len(line); {
			place := form.FindStringSubmatchIndex(line[from:])
			if place == nil {
				return
			}
			begin, end := from+place[0], from+place[1]
			if ok && begin >= at[0] {
				return
			}
			found := make([]string, len(place)/2)
			for i := range found {
				if place[2*i] >= 0 {
					found[i] = line[from+place[2*i] : from+place[2*i+1]]
				}
			}
			if from = end; strings.Count(line[:begin], "`")%2 > 0 {
				continue // shown as code
			}
			if got, is := read(found); is {
				at, in, ok = []int{begin, end}, got, true
				return
			}
		}
	}
	if strings.Contains(line, "{{") {
		try(mdBookForm(), func(found []string) (inclusion, bool) { return m.mdBook(f, found) })
		try(hugoForm(), func(found []string) (inclusion, bool) { return m.hugo(f, found) })
	}
	if strings.Contains(line, "{%") && !f.raw {
		try(liquidForm(), func(found []string) (inclusion, bool) { return m.liquid(f, found) })
	}
	if strings.Contains(line, "{!") {
		try(bangForm(), func(found []string) (inclusion, bool) {
			if !strings.Contains(found[1], ".") {
				return inclusion{}, false
			}
			return m.get(f, target{path: found[1]}, inclusion{asIs: true}), true
		})
	}
	return at, in, ok
}

func (m *markdown) mdBook(f *file, found []string) (inclusion, bool) {
	if strings.HasPrefix(found[0], `\`) {
		return inclusion{lines: []string{found[0][1:]}}, true
	}
	if found[1] == "title" {
		return inclusion{}, true
	}
	name, place, _ := strings.Cut(strings.Fields(found[2])[0], ":")
	t := target{path: name}
	if place != "" {
		if ranges := parseRanges(place, ":"); len(ranges) > 0 {
			t.ranges = ranges
		} else {
			t.region = place
		}
	}
	return m.get(f, t, inclusion{code: strings.HasPrefix(found[1], "play")}), true
}

// includeName matches the names of shortcodes that include a file.
var includeName = document.Lazily(`(?i)include|read-?file|snippet|partial|shared|code_?sample|codenew|example`)

// isTextFile reports whether a parameter is the name of a file with text.
var isTextFile = document.Lazily(`(?i)^[\w./ -]+\.(?:md|mdx|markdown|qmd|txt|ya?ml|json|toml|py|go|rs|js|ts|tsx|java|kt|rb|php|sh|c|h|cpp|cs|sql|html|xml|csv|conf|ini|tf|hcl|proto|adoc|rst|dockerfile)$`)

func (m *markdown) hugo(f *file, found []string) (inclusion, bool) {
	name := found[1]
	var file string
	isCode := strings.Contains(strings.ToLower(name), "code") || strings.Contains(found[2], `code="true"`) ||
		strings.Contains(found[2], "code=true")
	bare := parameter().ReplaceAllStringFunc(found[2], func(p string) string {
		kv := parameter().FindStringSubmatch(p)
		switch value := kv[2] + kv[3]; kv[1] {
		case "file", "path", "src", "lookup", "filename", "name":
			if file == "" || kv[1] == "file" || kv[1] == "lookup" {
				file = value
			}
		}
		return ""
	})
	if fields := strings.Fields(bare); file == "" && len(fields) > 0 {
		file = strings.Trim(fields[0], "\"'`")
		if _, value, ok := strings.Cut(file, "="); ok {
			file = strings.Trim(value, `"'`)
		}
	}
	includes := includeName().MatchString(name)
	if !includes || file == "" || !isTextFile().MatchString(file) &&
		!strings.Contains(strings.ToLower(name), "include") && !strings.Contains(strings.ToLower(name), "file") {
		return inclusion{}, false
	}
	in := inclusion{code: isCode || !isMarkdown(file) && path.Ext(file) != "" && path.Ext(file) != ".html" &&
		path.Ext(file) != ".txt", asIs: true}
	t := target{path: file, folders: []string{"content", "content/en", "includes", "content/includes",
		"content/en/includes", "examples", "content/en/examples", "shared", "docs/sources/shared", "assets", "static",
		"_includes"}}
	if in = m.get(f, t, in); strings.HasSuffix(in.name, ".html") {
		in.lines = nil // a template
	}
	return in, true
}

func (m *markdown) liquid(f *file, found []string) (inclusion, bool) {
	name, rest := found[2]+found[3]+found[4], found[5]
	values := map[string]string{}
	for _, p := range parameter().FindAllStringSubmatch(rest, -1) {
		values[p[1]] = p[2] + p[3]
	}
	t := target{path: name}
	switch found[1] {
	case "data": // GitHub's documentation
		reusable, ok := strings.CutPrefix(name, "reusables.")
		if !ok {
			return inclusion{}, false
		}
		t = target{path: "data/reusables/" + strings.ReplaceAll(reusable, ".", "/") + ".md"}
	case "include-markdown":
		t.after, t.before = values["start"], values["end"]
	case "include_relative":
	case "render", "snippet":
		if path.Ext(name) == "" {
			return inclusion{}, false
		}
		t.folders = []string{"_includes", "snippets"}
	default:
		t.folders = []string{"_includes", "includes", "src/_includes"}
	}
	if strings.Contains(name, "{{") {
		return inclusion{asIs: true}, false
	}
	in := m.get(f, t, inclusion{asIs: true})
	if in.lines != nil && !isMarkdown(in.name) && path.Ext(in.name) == ".html" {
		// A template: only what the page passes to it is text of the page.
		in.lines = nil
		for _, key := range []string{"title", "content", "text", "caption"} {
			if values[key] != "" {
				in.lines = append(in.lines, values[key])
			}
		}
		return in, true
	}
	for i, l := range in.lines {
		in.lines[i] = includeValue().ReplaceAllStringFunc(l, func(s string) string {
			return values[includeValue().FindStringSubmatch(s)[1]]
		})
	}
	return in, true
}

var includeValue = document.Lazily(`\{\{-?\s*include\.([\w-]+)\s*-?\}\}`)

// number returns the number, 0 for none.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// snippetForm matches a line of pymdownx.snippets: indentation, escapes, a
// mark, and a quoted path. Lines that begin or end a list of paths have no
// path.
var snippetForm = document.Lazily(`^([ \t]*)(;*)-+8<-+(?:[ \t]+(?:"((?:\\"|[^"])+)"|'((?:\\'|[^'])+)'))?[ \t]*$`)

// snippet replaces line i, or the list of paths that begins on it.
func (m *markdown) snippet(f *file, i int) (out []string, n int) {
	if !strings.Contains(f.lines[i], "8<-") {
		return nil, 0
	}
	found := snippetForm().FindStringSubmatch(f.lines[i])
	if found == nil {
		return nil, 0
	}
	indent, quoted := found[1], found[3]+found[4]
	switch {
	case found[2] != "":
		return []string{indent + strings.Replace(f.lines[i][len(indent):], ";", "", 1)}, 1
	case quoted != "":
		return m.snippetFile(f, indent, strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(quoted)), 1
	}
	for n := i + 1; n < len(f.lines); n++ {
		if found := snippetForm().FindStringSubmatch(f.lines[n]); found != nil && found[2]+found[3]+found[4] == "" {
			return out, n + 1 - i
		}
		bare := strings.TrimSpace(f.lines[n])
		if bare == "" || strings.HasPrefix(bare, ";") {
			continue
		}
		out = append(out, m.snippetFile(f, indentOf(f.lines[n]), bare)...)
	}
	return nil, 0 // an unterminated list is text
}

// snippetPlace matches a path and an optional suffix: ranges of lines, or a
// section name.
var snippetPlace = document.Lazily(`^(.+?)(?::(-?[0-9]*(?::-?[0-9]*)?(?:,-?[0-9]*(?::-?[0-9]*)?)*)|:([A-Za-z][-_0-9A-Za-z]*))?$`)

// snippetFile returns the lines of an included file or of a part of it.
func (m *markdown) snippetFile(f *file, indent, place string) []string {
	found := snippetPlace().FindStringSubmatch(place)
	if found == nil {
		return nil
	}
	t := target{path: found[1], first: m.folderWith("mkdocs.yml"), folders: []string{"docs", "docs/snippets"},
		part: part{region: found[3]}}
	if t.ranges = parseRanges(found[2], ":"); len(t.ranges) == 1 && !strings.ContainsAny(found[2], ":,") {
		t.ranges[0].last = 0 // a single number is the first line
	}
	return m.write(f, indent, m.get(f, t, inclusion{}), "")
}
