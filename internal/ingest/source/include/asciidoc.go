package include

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// asciidoc is the dialect of AsciiDoc, with Antora's resources and Spring's include-code.
type asciidoc struct {
	*expander
	anchor string // of the section
}

func (a *asciidoc) mayInclude(line string) bool {
	return strings.HasPrefix(line, "include") || inAntora(a.page) && strings.Contains(line, "{")
}

var (
	asciidocForm  = document.Lazily(`^include(-code)?::([^\[\]]+)\[(.*)\]\s*$`)
	attributeForm = document.Lazily(`^:([\w-]+):\s+(\S.*)$`)
	anchorForm    = document.Lazily(`^\[(?:\[([\w.:-]+)(?:,.*)?\]|#([\w.:-]+).*)\]$`)
	optionForm    = document.Lazily(`([\w-]+)\s*=\s*(?:"([^"]*)"|([^,]*))`)
	referenceForm = document.Lazily(`\{([\w-]+)\}`)
)

func (a *asciidoc) replace(f *file, i int) (out []string, n int) {
	line := f.lines[i]
	if i == 0 && len(a.open) == 1 {
		if set := a.antoraAttributes(f.lines); len(set) > 0 {
			return append(set, a.rest(f, line)...), 1
		}
	}
	if m := attributeForm().FindStringSubmatch(line); m != nil {
		a.attributes[m[1]] = a.substitute(m[2])
	} else if m := anchorForm().FindStringSubmatch(line); m != nil {
		a.anchor = m[1] + m[2]
	}
	m := asciidocForm().FindStringSubmatch(line)
	if m == nil {
		return nil, 0
	}
	options := map[string]string{}
	for _, o := range optionForm().FindAllStringSubmatch(m[3], -1) {
		options[o[1]] = o[2] + strings.TrimSpace(o[3])
	}
	if m[1] != "" {
		return a.code(f, m[2], options), 1
	}
	t := a.target(f, a.substitute(m[2]), options)
	name, lines, err := a.include(f.name, t)
	if err != nil {
		if err != errCycle && options["opts"] != "optional" && options["options"] != "optional" {
			a.miss(m[2])
		}
		return nil, 1
	}
	if options["indent"] != "" {
		lines = dedented(lines)
	}
	lines = a.nested(name, lines)
	return a.shifted(lines, options["leveloffset"]), 1
}

// rest returns the first line, or its replacement.
func (a *asciidoc) rest(f *file, line string) []string {
	if out, n := a.replace(&file{name: f.name, lines: []string{"", line}}, 1); n > 0 {
		return out
	}
	return []string{line}
}

// target returns the target of a path.
func (a *asciidoc) target(f *file, name string, options map[string]string) target {
	t := target{path: name}
	if rest, ok := a.resource(f.name, name); ok {
		t.path, t.first = rest, "."
	}
	t.ranges = parseRanges(options["lines"], "..")
	for _, tags := range []string{options["tag"], options["tags"]} {
		t.tags = append(t.tags, strings.FieldsFunc(tags, func(r rune) bool { return r == ';' || r == ',' })...)
	}
	return t
}

// families are the folders of Antora's resources.
var families = map[string]string{"partial": "partials", "example": "examples", "page": "pages",
	"attachment": "attachments"}

// resource returns the path of a resource of Antora: partial$a.adoc, module:example$a.java.
func (a *asciidoc) resource(from, name string) (string, bool) {
	id, rest, ok := strings.Cut(name, "$")
	family := id[strings.LastIndexByte(id, ':')+1:]
	if !ok || families[family] == "" {
		return "", false
	}
	modules, module, ok := moduleOf(from)
	if !ok {
		return "", false
	}
	if parts := strings.Split(id, ":"); len(parts) > 1 {
		module = parts[len(parts)-2]
		if module == "" {
			module = "ROOT"
		}
	}
	return path.Join(modules, module, families[family], rest), true
}

// moduleOf returns the folder of Antora's modules around a file, and the file's module.
func moduleOf(name string) (modules, module string, ok bool) {
	parts := strings.Split(name, "/")
	i := slices.Index(parts, "modules")
	if i < 0 || i+2 >= len(parts) {
		return "", "", false
	}
	return strings.Join(parts[:i+1], "/"), parts[i+1], true
}

func inAntora(name string) bool { _, _, ok := moduleOf(name); return ok }

// antoraAttributes returns entries for the attributes of antora.yml that the page uses.
func (a *asciidoc) antoraAttributes(lines []string) (entries []string) {
	a.attributes = map[string]string{"partialsdir": "partial$", "examplesdir": "example$"}
	modules, _, ok := moduleOf(a.page)
	if !ok {
		return nil
	}
	t := a.text(path.Join(path.Dir(modules), "antora.yml"))
	var site struct {
		AsciiDoc struct{ Attributes map[string]any } `yaml:"asciidoc"`
	}
	if t.err != nil || yaml.Unmarshal([]byte(strings.Join(t.lines, "\n")), &site) != nil {
		return nil
	}
	for name, value := range site.AsciiDoc.Attributes {
		if text, ok := value.(string); ok || value != nil && value != false {
			if !ok {
				text = fmt.Sprint(value)
			}
			if text = strings.TrimSuffix(text, "@"); !strings.Contains(text, "\n") {
				a.attributes[strings.ToLower(name)] = text
			}
		}
	}
	used := map[string]bool{}
	for _, l := range lines {
		for _, m := range referenceForm().FindAllStringSubmatch(l, -1) {
			if name := strings.ToLower(m[1]); !used[name] && site.AsciiDoc.Attributes[name] != nil {
				used[name] = true
				if value := a.substitute(a.attributes[name]); value != "" {
					entries = append(entries, ":"+name+": "+value)
				}
			}
		}
	}
	return entries
}

// substitute replaces references to attributes.
func (a *asciidoc) substitute(s string) string {
	const deepest, longest = 4, 1000
	for range deepest {
		was := s
		s = referenceForm().ReplaceAllStringFunc(s, func(ref string) string {
			if value, ok := a.attributes[strings.ToLower(ref[1:len(ref)-1])]; ok {
				return value
			}
			return ref
		})
		if s == was || len(s) > longest {
			break
		}
	}
	return s[:min(len(s), longest)]
}

// shifted moves the titles of an included file by its leveloffset.
func (a *asciidoc) shifted(lines []string, offset string) []string {
	by := number(strings.TrimPrefix(offset, "+"))
	if by <= 0 || by > 5 {
		return lines
	}
	out := slices.Clone(lines)
	block := ""
	for i, l := range out {
		switch {
		case block != "":
			if l == block {
				block = ""
			}
		case len(l) >= 4 && (l[0] == '-' || l[0] == '.') && strings.Count(l, l[:1]) == len(l):
			block = l
		case strings.HasPrefix(strings.TrimLeft(l, "="), " ") && l[0] == '=':
			out[i] = strings.Repeat("=", by) + l
		}
	}
	return out
}

// code replaces an include-code directive of Spring's documentation: the class with that
// name in the tree of examples whose folders are named as the section's anchor and the page.
func (a *asciidoc) code(f *file, name string, options map[string]string) (out []string) {
	near := map[string]bool{}
	for _, part := range strings.FieldsFunc(strings.TrimSuffix(f.name, path.Ext(f.name))+"/"+a.anchor,
		func(r rune) bool { return r == '/' || r == '.' }) {
		near[letters(part)] = true
	}
	near[letters(a.anchor)] = true
	inner := strings.Trim(path.Dir(name), "./")
	found := "" // folder of the example, the same for all languages
	for _, language := range []struct{ folder, ending, label string }{{"java", ".java", "Java"},
		{"kotlin", ".kt", "Kotlin"}, {"groovy", ".groovy", "Groovy"}, {"resources", ".xml", "XML"}} {
		best, most := "", 0
		for _, example := range a.examples(language.folder) {
			_, folder, _ := strings.Cut(path.Dir(example), "src/main/"+language.folder+"/")
			if path.Base(example) != path.Base(name)+language.ending || found != "" && folder != found {
				continue
			}
			outer, fits := strings.CutSuffix(folder, inner)
			if parts := strings.Split(strings.Trim(outer, "/"), "/"); !fits || !near[parts[len(parts)-1]] {
				continue
			}
			score := 0
			for _, part := range strings.Split(folder, "/") {
				if near[part] {
					score++
				}
			}
			if score > most || score == most && score > 0 && len(example) < len(best) {
				best, most = example, score
			}
		}
		if best == "" {
			continue
		}
		_, lines, err := a.include(f.name, func() target { t := a.target(f, best, options); t.first = "."; return t }())
		if err != nil {
			continue
		}
		_, found, _ = strings.Cut(path.Dir(best), "src/main/"+language.folder+"/")
		mark := "----"
		for slices.Contains(lines, mark) {
			mark += "-"
		}
		out = append(out, "."+language.label, "[source,"+strings.ToLower(language.label)+"]", mark)
		out = append(append(out, dedented(withoutFolds(withoutHeader(lines)))...), mark, "")
	}
	if out == nil {
		a.miss(name)
	}
	return out
}

// withoutFolds replaces the lines that the documentation folds: "// @fold:on // getters".
func withoutFolds(lines []string) (out []string) {
	folded := false
	for _, l := range lines {
		before, label, on := strings.Cut(l, "// @fold:on")
		if !folded && strings.TrimSpace(label) != "" {
			out = append(out, before+strings.TrimSpace(label))
		} else if !folded && !on {
			out = append(out, l)
		}
		folded = (folded || on) && !strings.Contains(l, "// @fold:off")
	}
	return out
}

// letters returns the lower-case letters and digits of a name, as Java's packages have them.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// examples returns the files of the nearest tree of examples in a language.
func (a *asciidoc) examples(language string) []string {
	for dir := range around(a.page) {
		if files := a.list(path.Join(dir, "src/main", language)); len(files) > 0 {
			return files
		}
	}
	return nil
}

// withoutHeader removes the license and the package from the beginning of a source file.
func withoutHeader(lines []string) []string {
	for len(lines) > 0 {
		switch l := strings.TrimSpace(lines[0]); {
		case strings.HasPrefix(l, "/*"):
			end := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "*/") })
			if end < 0 {
				return lines
			}
			lines = lines[end+1:]
		case l == "" || strings.HasPrefix(l, "package "):
			lines = lines[1:]
		default:
			return lines
		}
	}
	return lines
}
