package openapi

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

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

// groups returns the tags with their operations: those that the file declares
// first, then others, and operations without a tag last. An operation with
// several tags belongs to the first.
func (r *reader) groups() []*group {
	var groups []*group
	byName := map[string]*group{}
	add := func(name string, line int, tag *yaml.Node) *group {
		g := byName[name]
		if g == nil {
			g = &group{name: name, title: cmp.Or(r.text(tag, "x-displayName"), name), line: line, tag: tag}
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
		g.line = cmp.Or(g.line, op.line)
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
				if op, _ := r.resolve(r.get(item, method)); op != nil {
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
