// Package openapi parses descriptions of HTTP APIs and of data: OpenAPI 3,
// Swagger 2 and JSON Schema, in JSON or YAML.
//
// An API becomes an introduction, a section for each tag with a section for
// each of its operations, the security schemes, and a section for each named
// schema. An operation has its parameters, and the fields of its request body
// and responses. Its anchor is the operationId. A JSON Schema becomes a section
// for each property and definition.
//
// References within the file are resolved. Time and output are proportional to
// the size of the file, whatever its references and aliases repeat: cycles end
// at a named schema or at maxDepth, and text beyond the budget is not written.
package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// MaxFile is the maximum size of a file in bytes. The YAML parser needs some
// fifty times as much memory.
const MaxFile = 10 << 20

// ErrOther is the error of Parse for a file that is valid, but does not
// describe an API or data.
var ErrOther = errors.New("neither OpenAPI nor JSON Schema")

// MayParse reports whether a file may be one that Parse parses. It costs less
// than parsing.
func MayParse(text []byte) bool {
	for _, key := range [...]string{"openapi", "swagger", "$schema", "$defs", "definitions"} {
		if bytes.Contains(text, []byte(key)) {
			return true
		}
	}
	return false
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

// Parse parses a file. The result is cut if the file repeats so much by
// references or aliases that its text exceeds the budget.
func Parse(text []byte) (doc mdwriter.Document, cut bool, err error) {
	if len(text) > MaxFile {
		return mdwriter.Document{}, false, fmt.Errorf("API description larger than %d MiB", MaxFile>>20)
	}
	root, err := parseTree(text)
	if err != nil {
		return mdwriter.Document{}, false, err
	}
	const spare = 4 << 20
	r := &reader{tree: tree{root: deref(root), objects: map[*yaml.Node]*object{}}, listed: map[string]bool{}, users: map[string][]string{}, budget: 8*len(text) + spare}
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
		return mdwriter.Document{}, false, ErrOther
	}
	return r.w.Document(), r.cut, nil
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

// methods are the keys of operations in a path, in the order of sections.
var methods = [...]string{"get", "query", "head", "post", "put", "patch", "delete", "options", "trace"}

// verbs are words that people use in place of the verb of a summary.
var verbs = map[string]string{
	"list":     "get find show all",
	"search":   "find list get",
	"get":      "show find read",
	"retrieve": "get show find read",
	"return":   "get show find read",
	"fetch":    "get show find read",
	"create":   "add new make",
	"add":      "create new",
	"update":   "change edit modify set",
	"modify":   "change edit update set",
	"replace":  "change set update",
	"delete":   "remove",
	"remove":   "delete",
}

// An operation is a method of a path.
type operation struct {
	method, path string
	line         int
	value, item  *yaml.Node // the operation, and the path's item
}

// anchor returns the anchor of an operation: its operationId, or its method and
// path.
func (op operation) anchor(r *reader) string {
	if id := r.text(op.value, "operationId"); id != "" {
		return anchor(id)
	}
	return anchor(strings.ToLower(op.method) + op.path)
}

// A group is a tag with its operations.
type group struct {
	name, title string
	line        int
	tag         *yaml.Node // nil if the file only uses it
	operations  []operation
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
	title := r.text(info, "title")
	if title == "" {
		title = "API"
	}
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

// groups returns the tags with their operations: those that the file declares
// first, then others, and operations without a tag last. An operation with
// several tags belongs to the first.
func (r *reader) groups() []*group {
	var groups []*group
	byName := map[string]*group{}
	add := func(name string, line int, tag *yaml.Node) *group {
		g := byName[name]
		if g == nil {
			g = &group{name: name, title: name, line: line, tag: tag}
			if title := r.text(tag, "x-displayName"); title != "" {
				g.title = title
			}
			byName[name] = g
			groups = append(groups, g)
		}
		return g
	}
	for _, t := range items(r.get(r.root, "tags")) {
		add(r.text(t, "name"), lineOf(deref(t)), deref(t))
	}
	rest := &group{name: "operations", title: "Operations"}
	for _, op := range r.operations() {
		g := rest
		if tags := items(r.get(op.value, "tags")); len(tags) > 0 && scalar(tags[0]) != "" {
			g = add(scalar(tags[0]), op.line, nil)
		}
		if g.line == 0 {
			g.line = op.line
		}
		g.operations = append(g.operations, op)
	}
	if len(rest.operations) > 0 {
		groups = append(groups, rest)
	}
	return groups
}

// operations returns all operations in the order of the file: those of paths,
// and the requests that the API sends to webhooks.
func (r *reader) operations() []operation {
	var all []operation
	for _, key := range [...]string{"paths", "webhooks"} {
		for _, path := range r.fields(r.get(r.root, key)) {
			item, _ := r.resolve(path.value)
			for _, method := range methods {
				if op := r.get(item, method); op != nil {
					label := path.key
					if key == "webhooks" {
						label = "webhook " + label
					}
					all = append(all, operation{strings.ToUpper(method), label, lineOf(op), op, item})
				}
			}
		}
	}
	return all
}

// operation writes the section of an operation.
func (r *reader) operation(op operation) {
	call := op.method + " " + op.path
	id := r.text(op.value, "operationId")
	heading := call
	if summary := oneLine(r.text(op.value, "summary"), maxText); summary != "" && r.spend(len(summary)) {
		heading = strings.TrimRight(summary, ".") + " (" + call + ")"
	} else if id != "" {
		heading = id + " (" + call + ")"
	}
	r.call = call
	defer func() { r.call = "" }()
	r.w.Heading(3, heading, op.line)
	r.w.Entry()
	r.w.Anchor(op.anchor(r))
	r.w.Term(id)
	r.w.Term(call)
	r.w.Term(r.paraphrase(op))
	line := mdwriter.CodeSpan(call)
	if id != "" {
		line += ", operation " + mdwriter.CodeSpan(id)
	}
	if r.isTrue(op.value, "deprecated") {
		line += " (deprecated)"
	}
	r.paragraph(line, op.line)
	r.markdown(r.get(op.value, "description"), 0)
	r.external(op.value)
	r.parameters(op)
	r.requestBody(op.value)
	r.responses(op.value)
	r.requirements(op.value)
}

// paraphrase returns the summary of an operation with other verbs.
func (r *reader) paraphrase(op operation) string {
	verb, object, _ := strings.Cut(oneLine(r.text(op.value, "summary"), maxText), " ")
	words := verbs[strings.TrimSuffix(strings.ToLower(verb), "s")]
	if words == "" {
		return ""
	}
	return words + " " + strings.TrimRight(object, ".")
}

// parameters writes the parameters of an operation, with those of its path.
// Swagger 2 describes the request body as one of them.
func (r *reader) parameters(op operation) {
	var all list
	seen := map[string]bool{}
	own := items(r.get(op.value, "parameters"))
	for _, p := range append(own[:len(own):len(own)], items(r.get(op.item, "parameters"))...) {
		from := lineOf(deref(p))
		p, name := r.resolve(p)
		if p == nil {
			r.item(&all, 0, mdwriter.CodeSpan(name), from)
			continue
		}
		key := r.text(p, "in") + " " + r.text(p, "name")
		if seen[key] {
			continue
		}
		seen[key] = true
		schema := r.get(p, "schema")
		if r.text(p, "in") == "body" {
			r.body(r.get(p, "description"), schema, "", r.isTrue(p, "required"), from)
			continue
		}
		if schema == nil {
			schema = p // Swagger 2
			for _, f := range r.fields(r.get(p, "content")) {
				schema = r.get(f.value, "schema")
				break
			}
		}
		if r.text(p, "in") != "path" {
			r.w.Term(r.text(p, "name"))
		}
		r.field(&all, property{name: r.text(p, "name"), place: r.text(p, "in"), value: schema, required: r.isTrue(p, "required"),
			description: r.text(p, "description"), deprecated: r.isTrue(p, "deprecated"), line: from}, 0, maxDepth-1)
	}
	r.list("Parameters", op.line, &all)
}

// requestBody writes the fields of a request body of OpenAPI 3.
func (r *reader) requestBody(op *yaml.Node) {
	from := lineOf(r.get(op, "requestBody"))
	body, _ := r.resolve(r.get(op, "requestBody"))
	first := ""
	for i, media := range r.fields(r.get(body, "content")) {
		schema := r.get(media.value, "schema")
		if i == 0 {
			first = r.named(schema)
		} else if first != "" && first == r.named(schema) {
			continue // the same in another format
		}
		r.body(r.get(body, "description"), schema, media.key, r.isTrue(body, "required"), from)
		r.bodyExample(media.value)
	}
}

// body writes a request body.
func (r *reader) body(description, schema *yaml.Node, media string, required bool, from int) {
	line := "Request body"
	var about []string
	if media != "" {
		about = append(about, mdwriter.CodeSpan(media))
	}
	if required {
		about = append(about, "required")
	}
	if len(about) > 0 {
		line += " (" + strings.Join(about, ", ") + ")"
	}
	if name := r.typeOf(schema); name != "" {
		line += ": " + name
	}
	if text := strings.TrimRight(oneLine(scalar(description), maxText), "."); text != "" {
		line += ". " + text
	}
	var all list
	r.properties(&all, schema)
	if len(all.lines) == 0 {
		r.paragraph(line, from)
	}
	r.list(line, from, &all)
}

// bodyExample writes a short example of a request body.
func (r *reader) bodyExample(media *yaml.Node) {
	const longest = 1500
	n := r.get(media, "example")
	if n == nil {
		for _, f := range r.fields(r.get(media, "examples")) {
			e, _ := r.resolve(f.value)
			n = r.get(e, "value")
			break
		}
	}
	if n == nil || !r.spend(longest) {
		return
	}
	if text := r.example(n, longest, true); text != "" {
		var lines []mdwriter.Line
		for l := range strings.SplitSeq(text, "\n") {
			lines = append(lines, mdwriter.Line{Text: l, From: lineOf(n)})
		}
		r.w.Code("json", lines)
	}
}

// responses writes the responses of an operation, with the names of their
// fields.
func (r *reader) responses(op *yaml.Node) {
	var all list
	for _, f := range r.fields(r.get(op, "responses")) {
		response, _ := r.resolve(f.value)
		line := mdwriter.CodeSpan(f.key)
		if text := strings.TrimRight(oneLine(r.text(response, "description"), maxText), "."); text != "" {
			line += ": " + text
		}
		schema := r.get(response, "schema") // Swagger 2
		for _, media := range r.fields(r.get(response, "content")) {
			schema = r.get(media.value, "schema")
			break
		}
		if schema != nil {
			line = r.withFields(line, schema)
		}
		if !r.item(&all, 0, line, f.line) {
			break
		}
	}
	r.list("Responses", lineOf(r.get(op, "responses")), &all)
}

// withFields appends the type of a response, and the names of its fields
// unless it is a named schema.
func (r *reader) withFields(line string, schema *yaml.Node) string {
	const most = 40
	if name := r.typeOf(schema); name != "" {
		line += ". Returns " + name
	}
	if r.isEnvelope(schema) {
		r.listed[r.named(schema)] = true
	} else if r.named(schema) != "" || r.named(r.itemsOf(schema)) != "" {
		// The section of the schema lists them.
		value, _ := r.resolve(r.element(schema))
		if text := strings.TrimRight(oneLine(r.text(value, "description"), maxText), "."); text != "" {
			line += ": " + text
		}
		return line
	}
	var names []string
	for _, p := range r.propertiesOf(r.element(schema)) {
		if len(names) == most || !r.spend(len(p.name)) {
			break
		}
		name := mdwriter.CodeSpan(p.name)
		if of := r.typeOf(p.value); r.itemsOf(p.value) != nil && of != "" {
			name += " (" + of + ")"
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		line += ": " + strings.Join(names, ", ")
	}
	return line
}

// isEnvelope reports whether a schema only wraps a list, as for a page of results.
func (r *reader) isEnvelope(schema *yaml.Node) bool {
	const most = 6 // fields
	value, _ := r.resolve(schema)
	all := r.propertiesOf(value)
	return r.text(value, "description") == "" && len(all) <= most &&
		slices.ContainsFunc(all, func(p property) bool { return r.named(r.itemsOf(p.value)) != "" })
}

// requirements writes the security requirements of an operation.
func (r *reader) requirements(op *yaml.Node) {
	own := r.get(op, "security")
	if own == nil {
		return // those of the API, which its section describes
	}
	var ways []string
	for _, way := range items(own) {
		var parts []string
		for _, f := range r.fields(way) {
			part := mdwriter.CodeSpan(f.key)
			for i, scope := range items(f.value) {
				if i == 0 {
					part += " with scope"
				}
				part += " " + mdwriter.CodeSpan(scalar(scope))
			}
			parts = append(parts, part)
		}
		if len(parts) > 0 {
			ways = append(ways, strings.Join(parts, " and "))
		}
	}
	if len(ways) > 0 {
		r.paragraph("Authentication: "+strings.Join(ways, ", or "), lineOf(own))
		return
	}
	r.paragraph("Authentication: none", lineOf(own))
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
