// Package openapi parses descriptions of HTTP APIs and of data: OpenAPI 3,
// Swagger 2 and JSON Schema, in JSON or YAML.
//
// An API becomes an introduction, a section for each tag with a section for
// each of its operations, the security schemes, and a section for each named
// schema. An operation has its parameters, and the fields of its request body
// and responses. Its anchor is the operationId. A JSON Schema becomes a section
// for each property and definition.
//
// References within the file and to other files of the source are resolved. Time and
// output are proportional to the size of the files, whatever their references and aliases
// repeat: cycles end at a named schema or at maxDepth, and text beyond the budget is not
// written.
package openapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// Limits for the size of a file in bytes. The YAML parser needs some fifty times as much
// memory, our parser of JSON twenty times.
const (
	MaxFile = 32 << 20
	maxYAML = 12 << 20
)

// ErrOther is the error of Parse for a file that is valid, but does not
// describe an API or data.
var ErrOther = errors.New("neither OpenAPI nor JSON Schema")

// MayParse reports whether a file may be one that Parse parses. It costs less
// than parsing.
func MayParse(text []byte) bool {
	return slices.ContainsFunc([]string{"openapi", "swagger", "$schema", "$defs", "definitions"}, func(key string) bool { return bytes.Contains(text, []byte(key)) })
}

// IsDescription reports whether the beginning of a file says that it is a
// description that Parse parses, even if Parse finds an error in it.
func IsDescription(text []byte) bool {
	const head = 2048
	return start().Match(text[:min(head, len(text))])
}

var start = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*\{?\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]`)
})

// Parse parses a file at a path of the source. read returns the text of another file; it
// may be nil. Notes report what is missing in the result: files that were not read, and text
// that references or aliases repeat so much that it exceeds the budget.
func Parse(text []byte, path string, read func(path string) (string, error)) (doc mdwriter.Document, notes []string, err error) {
	if len(text) > MaxFile {
		return mdwriter.Document{}, nil, fmt.Errorf("API description larger than %d MiB", MaxFile>>20)
	}
	root, err := parseTree(text)
	if err != nil {
		return mdwriter.Document{}, nil, err
	}
	const spare = 4 << 20
	r := &reader{
		tree:   tree{objects: map[*yaml.Node]*object{}, files: newFiles(path, deref(root), read)},
		listed: map[string]bool{}, users: map[string][]string{}, budget: 8*len(text) + spare,
	}
	r.budget += 8 * r.files.size
	switch {
	case strings.HasPrefix(r.text(r.root, "openapi"), "3"):
		r.schemas = []string{"components", "schemas"}
		r.api()
	case strings.HasPrefix(r.text(r.root, "swagger"), "2"):
		r.schemas = []string{"definitions"}
		r.api()
	case r.isSchema():
		r.jsonSchema()
	default:
		return mdwriter.Document{}, nil, ErrOther
	}
	if r.cut {
		notes = append(notes, "references repeat too much text; the rest was not read")
	}
	return r.w.Document(), append(notes, r.files.notes()...), nil
}

// A reader writes a file as Markdown.
type reader struct {
	tree
	w       mdwriter.Writer
	schemas []string            // keys of the named schemas
	listed  map[string]bool     // named schemas that need no section: a response lists all of their fields
	call    string              // of the operation that is being written
	users   map[string][]string // calls that use a named schema
	budget  int                 // bytes that may still be written
	cut     bool                // the budget did not suffice
	other   externals           // schemas in other files
}

// externals are the schemas of other files, in the order of the references to them.
type externals struct {
	names  []string
	values map[string]*yaml.Node
}

// spend takes n bytes from the budget. It reports whether they were left.
func (r *reader) spend(n int) bool {
	const overhead = 16 // of a line
	if r.budget -= n + overhead; r.budget < 0 {
		r.budget, r.cut = 0, true
	}
	return !r.cut
}

// paragraph writes a paragraph.
func (r *reader) paragraph(text string, from int) {
	if r.spend(len(text)) {
		r.w.Text(text, from)
	}
}

// A list collects the items of a list.
type list struct{ lines []mdwriter.Line }

// item adds an item to a list. It returns false if the budget is spent.
func (r *reader) item(l *list, indent int, text string, from int) bool {
	if !r.spend(len(text)) {
		return false
	}
	l.lines = append(l.lines, mdwriter.Line{Text: strings.Repeat("  ", indent) + "- " + text, From: from})
	return true
}

// list writes a list below a label, unless it is empty.
func (r *reader) list(label string, from int, l *list) {
	if len(l.lines) > 0 {
		r.paragraph(label+":", from)
		r.w.Block(l.lines...)
	}
}

// api writes the description of an API.
func (r *reader) api() {
	info := r.get(r.root, "info")
	r.introduce(info)
	r.security()
	for _, g := range r.groups() {
		if len(g.operations) == 0 && g.tag == nil {
			continue
		}
		r.w.Heading(2, g.title, g.line)
		r.w.Anchor(anchor("tag/" + g.name))
		r.markdown(r.get(g.tag, "description"), 3)
		r.external(g.tag)
		for _, op := range g.operations {
			r.operation(op)
		}
	}
	if all := r.fields(r.get(r.root, r.schemas...)); len(all) > 0 {
		r.w.Heading(2, "Schemas", all[0].line)
		for _, f := range all {
			if r.listed[f.key] {
				continue
			}
			r.w.Heading(3, f.key, f.line)
			r.w.Entry()
			r.w.Anchor(schemaAnchor(f.key))
			r.w.Term(f.key)
			r.schema(f.value)
			r.usedBy(f.key)
		}
	}
	r.externalSchemas()
}

// externalSchemas writes the schemas in other files, to which the sections before and the
// schemas themselves refer.
func (r *reader) externalSchemas() {
	for i := 0; i < len(r.other.names) && !r.cut; i++ {
		name := r.other.names[i]
		if i == 0 && len(r.fields(r.get(r.root, r.schemas...))) == 0 {
			r.w.Heading(2, "Schemas", 0)
		}
		r.w.Heading(3, name, 0)
		r.w.Entry()
		r.w.Anchor(schemaAnchor(name))
		r.w.Term(name)
		r.schema(r.other.values[name])
		r.usedBy(name)
	}
}

// maxUsers limits the operations that the section of a schema lists.
const maxUsers = 12

// use records that the current operation uses a named schema.
func (r *reader) use(name string) {
	users := r.users[name]
	if r.call != "" && len(users) <= maxUsers && !slices.Contains(users, r.call) {
		r.users[name] = append(users, r.call)
	}
}

// usedBy writes the operations that use a named schema.
func (r *reader) usedBy(name string) {
	var calls []string
	for i, call := range r.users[name] {
		if i == maxUsers {
			calls = append(calls, "others")
			break
		}
		calls = append(calls, mdwriter.CodeSpan(call))
	}
	if len(calls) > 0 {
		r.paragraph("Used by: "+strings.Join(calls, ", "), 0)
	}
}

// introduce writes the beginning: title, version, description, servers.
func (r *reader) introduce(info *yaml.Node) {
	title := cmp.Or(r.text(info, "title"), "API")
	r.w.Title = title
	r.w.Heading(1, title, lineOf(info))
	if version := r.text(info, "version"); version != "" {
		r.paragraph("Version "+oneLine(version, maxText), lineOf(r.get(info, "version")))
	}
	for _, s := range items(r.get(r.root, "servers")) {
		r.paragraph(strings.TrimRight("Base URL: "+mdwriter.CodeSpan(r.text(s, "url"))+" "+oneLine(r.text(s, "description"), maxText), " "), lineOf(deref(s)))
	}
	if host := r.text(r.root, "host"); host != "" {
		scheme := "https"
		if all := items(r.get(r.root, "schemes")); len(all) > 0 {
			scheme = scalar(all[0])
		}
		r.paragraph("Base URL: "+mdwriter.CodeSpan(scheme+"://"+host+r.text(r.root, "basePath")), lineOf(r.get(r.root, "host")))
	}
	r.external(r.root)
	r.markdown(r.get(info, "description"), 2)
}

// external writes the link to further documentation.
func (r *reader) external(n *yaml.Node) {
	docs := r.get(n, "externalDocs")
	if url := r.text(docs, "url"); url != "" {
		r.paragraph("See "+strings.TrimSpace(oneLine(r.text(docs, "description"), maxText)+" <"+url+">"), lineOf(docs))
	}
}

// security writes the ways of authentication.
func (r *reader) security() {
	schemes := r.fields(r.get(r.root, "components", "securitySchemes"))
	if len(schemes) == 0 {
		schemes = r.fields(r.get(r.root, "securityDefinitions"))
	}
	if len(schemes) == 0 {
		return
	}
	r.w.Heading(2, "Authentication", schemes[0].line)
	r.w.Anchor("authentication")
	for _, f := range schemes {
		s, _ := r.resolve(f.value)
		r.w.Heading(3, f.key, f.line)
		r.w.Entry()
		r.w.Anchor(anchor("security-" + f.key))
		how := r.text(s, "type")
		switch {
		case how == "http" || how == "basic":
			how = strings.TrimSpace("HTTP " + r.text(s, "scheme") + " authentication")
		case how == "apiKey":
			how = "API key in the " + r.text(s, "in") + " parameter " + mdwriter.CodeSpan(r.text(s, "name"))
		}
		r.paragraph(oneLine(how, maxText), f.line)
		r.markdown(r.get(s, "description"), 0)
		r.flows(s)
	}
}

// flows writes the URLs and scopes of OAuth.
func (r *reader) flows(s *yaml.Node) {
	flows := r.fields(r.get(s, "flows"))
	if flow := r.text(s, "flow"); flow != "" { // Swagger 2
		flows = append(flows, field{flow, lineOf(s), s})
	}
	for _, f := range flows {
		var all list
		for _, key := range [...]string{"authorizationUrl", "tokenUrl", "refreshUrl"} {
			if url := r.text(f.value, key); url != "" {
				r.item(&all, 0, key+": "+mdwriter.CodeSpan(url), lineOf(r.get(f.value, key)))
			}
		}
		for _, scope := range r.fields(r.get(f.value, "scopes")) {
			if !r.item(&all, 0, "scope "+mdwriter.CodeSpan(scope.key)+": "+oneLine(scalar(scope.value), maxText), scope.line) {
				break
			}
		}
		r.list("OAuth flow "+mdwriter.CodeSpan(f.key), f.line, &all)
	}
}

func lineOf(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	return n.Line
}

// schemaAnchor returns the anchor of a named schema.
func schemaAnchor(name string) string { return anchor("schema-" + name) }

// anchor returns a name as an anchor, without white space.
func anchor(name string) string {
	const longest = 200
	name = strings.Join(strings.Fields(name), "-")
	return strings.ToValidUTF8(name[:min(longest, len(name))], "")
}
