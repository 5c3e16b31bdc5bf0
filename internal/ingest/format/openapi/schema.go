package openapi

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

const (
	// maxDepth limits the nesting of fields. Deeper ones are in the sections of
	// their own schemas, if these have names.
	maxDepth = 4
	// maxProperties limits the fields of one value.
	maxProperties = 500
	// maxText limits a description that shares its line with others, in bytes.
	maxText = 600
	// maxValues limits the allowed values that a field lists.
	maxValues = 60
)

// A property is a field of a value, or a parameter.
type property struct {
	name, place string // place: where a parameter is
	value       *yaml.Node
	required    bool
	description string // "": that of the value
	deprecated  bool
	line        int
}

// schema writes a schema as the text of a section.
func (r *reader) schema(n *yaml.Node) {
	value, _ := r.resolve(n)
	r.markdown(r.get(value, "description"), 0)
	line := "Type: " + r.typeOf(n)
	if facts := r.facts(value); facts != "" {
		line += ". " + facts
	}
	if r.isTrue(value, "deprecated") {
		line += ". Deprecated"
	}
	if line != "Type: " {
		r.paragraph(line, lineOf(value))
	}
	var all list
	r.properties(&all, n)
	r.list("Fields", lineOf(value), &all)
	r.external(value)
}

// properties lists the fields of a value, or those of the items of an array.
func (r *reader) properties(l *list, n *yaml.Node) {
	for _, p := range r.propertiesOf(r.element(n)) {
		r.field(l, p, 0, 0)
	}
}

// field lists a field, with the fields of its value if that has no name.
func (r *reader) field(l *list, p property, indent, depth int) {
	if r.cut || !r.item(l, indent, r.describe(p), p.line) {
		return
	}
	if depth >= maxDepth || r.named(p.value) != "" || r.named(r.itemsOf(p.value)) != "" {
		return
	}
	for _, q := range r.inlineProperties(r.element(p.value)) {
		r.field(l, q, indent+1, depth+1)
	}
}

// describe returns a field in one line.
func (r *reader) describe(p property) string {
	value, _ := r.resolve(p.value)
	about := slices.DeleteFunc([]string{p.place, r.typeOf(p.value)}, func(s string) bool { return s == "" })
	if p.required {
		about = append(about, "required")
	}
	if r.isTrue(value, "readOnly") {
		about = append(about, "read-only")
	}
	if r.isTrue(value, "writeOnly") {
		about = append(about, "write-only")
	}
	if p.deprecated || r.isTrue(value, "deprecated") {
		about = append(about, "deprecated")
	}
	line := mdwriter.CodeSpan(oneLine(p.name, maxText))
	if len(about) > 0 {
		line += " (" + strings.Join(about, ", ") + ")"
	}
	text := p.description
	if text == "" {
		// Siblings of a reference describe its use (OpenAPI 3.1).
		if text = r.text(p.value, "description"); text == "" && r.named(p.value) == "" {
			text = r.text(value, "description")
		}
	}
	if text = strings.TrimRight(oneLine(text, maxText), "."); text != "" {
		line += ": " + text
	}
	if facts := r.facts(value); facts != "" {
		line += ". " + facts
	}
	return line
}

// facts returns the constraints of a value: default, allowed values, limits.
func (r *reader) facts(n *yaml.Node) string {
	const longest = 200
	var facts []string
	for _, c := range [...]struct{ key, label string }{
		{"default", "Default"}, {"const", "Always"}, {"minimum", "Minimum"}, {"maximum", "Maximum"},
		{"exclusiveMinimum", "Above"}, {"exclusiveMaximum", "Below"}, {"minLength", "Minimum length"}, {"maxLength", "Maximum length"},
		{"minItems", "Minimum items"}, {"maxItems", "Maximum items"}, {"pattern", "Pattern"}, {"example", "Example"},
	} {
		if v := r.get(n, c.key); v != nil {
			if text := r.inline(v, longest); text != "" {
				facts = append(facts, c.label+": "+mdwriter.CodeSpan(text))
			}
		}
	}
	inner, _ := r.resolve(r.itemsOf(n))
	for _, holder := range [...]*yaml.Node{n, inner} {
		var values []string
		allowed := items(r.get(holder, "enum"))
		for _, v := range allowed[:min(maxValues, len(allowed))] {
			if text := r.inline(v, longest); text != "" {
				values = append(values, mdwriter.CodeSpan(text))
			}
		}
		if len(values) > 0 {
			facts = append([]string{"One of: " + strings.Join(values, ", ")}, facts...)
		}
	}
	return strings.Join(facts, ". ")
}

// inline returns a value on one line: a scalar as it is, others as JSON; ""
// if it is too long.
func (r *reader) inline(n *yaml.Node, limit int) string {
	if n = deref(n); n == nil {
		return ""
	}
	if n.Kind == yaml.ScalarNode {
		return oneLine(n.Value, limit)
	}
	return r.example(n, limit, false)
}

// propertiesOf returns the fields of a value: its own, those of its allOf, and
// those of alternatives without a section of their own.
func (r *reader) propertiesOf(n *yaml.Node) []property {
	c := &propertyCollector{reader: r, seen: map[*yaml.Node]bool{}, names: map[string]bool{}}
	c.add(n, 0)
	return c.all
}

// inlineProperties returns the fields of a value that it does not take from named
// schemas.
func (r *reader) inlineProperties(n *yaml.Node) []property {
	c := &propertyCollector{reader: r, seen: map[*yaml.Node]bool{}, names: map[string]bool{}, inline: true}
	c.add(n, 0)
	return c.all
}

type propertyCollector struct {
	*reader
	inline bool // skip named schemas
	all    []property
	names  map[string]bool
	seen   map[*yaml.Node]bool
}

func (c *propertyCollector) add(n *yaml.Node, depth int) {
	n, _ = c.resolve(n)
	requires := items(c.get(n, "required"))
	if n == nil || c.seen[n] || depth > maxDepth || !c.spend(len(requires)) {
		return
	}
	c.seen[n] = true
	first := len(c.all)
	for _, f := range c.fields(c.get(n, "properties")) {
		if len(c.all) >= maxProperties || !c.spend(0) {
			break
		}
		if !c.names[f.key] {
			c.names[f.key] = true
			c.all = append(c.all, property{name: f.key, value: f.value, line: f.line})
		}
	}
	for _, key := range [...]string{"allOf", "oneOf", "anyOf"} {
		parts := items(c.get(n, key))
		if key != "allOf" && len(parts) > 1 && !slices.ContainsFunc(parts, func(p *yaml.Node) bool { return c.named(p) == "" }) {
			continue // the alternatives have sections of their own
		}
		for _, part := range parts {
			if !c.inline || c.named(part) == "" {
				c.add(part, depth+1)
			}
		}
	}
	required := map[string]bool{}
	for _, name := range requires {
		required[scalar(name)] = true
	}
	if depth > 0 {
		first = 0 // a part of allOf may require fields of another part
	}
	for i := first; i < len(c.all); i++ {
		c.all[i].required = c.all[i].required || required[c.all[i].name]
	}
}

// itemsOf returns the schema of the items of an array; nil for other values.
func (r *reader) itemsOf(n *yaml.Node) *yaml.Node {
	n, _ = r.resolve(n)
	return r.get(n, "items")
}

// element returns the schema of the items of an array, or of the values of a
// map; n itself if it is neither.
func (r *reader) element(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		value, _ := r.resolve(n)
		inner := r.get(value, "items")
		if more := r.get(value, "additionalProperties"); inner == nil && more != nil && more.Kind == yaml.MappingNode && r.get(value, "properties") == nil {
			inner = more
		}
		if inner == nil {
			return n
		}
		n = inner
	}
	return n
}

// named returns the name of the schema that a value refers to; "" if it
// is not a reference.
func (r *reader) named(n *yaml.Node) string {
	if n == nil || r.text(n, "$ref") == "" {
		return ""
	}
	value, name := r.resolve(n)
	if strings.HasPrefix(r.text(n, "$ref"), "#") || value == nil || r.get(r.root, append(slices.Clip(r.schemas), name)...) != nil {
		return name
	}
	if r.other.values[name] == nil {
		if r.other.values == nil {
			r.other.values = map[string]*yaml.Node{}
		}
		r.other.names, r.other.values[name] = append(r.other.names, name), value
	}
	return name
}

// typeOf returns the type of a value: "string, date-time", "array of `Pet`".
func (r *reader) typeOf(n *yaml.Node) string { return r.typeName(n, 0) }

func (r *reader) typeName(n *yaml.Node, depth int) string {
	if name := r.named(n); name != "" {
		r.use(name)
		return mdwriter.CodeSpan(oneLine(name, maxText))
	}
	if n == nil || depth > maxDepth || depth > 0 && !r.spend(0) {
		return ""
	}
	var types []string
	for _, t := range items(r.get(n, "type")) {
		types = append(types, scalar(t))
	}
	name := r.text(n, "type") + strings.Join(types, " or ")
	for _, key := range [...]string{"allOf", "oneOf", "anyOf"} {
		if parts := r.partTypes(items(r.get(n, key)), depth); name == "" && len(parts) > 0 {
			name = strings.Join(parts, map[bool]string{true: " and ", false: " or "}[key == "allOf"])
		}
	}
	switch inner := r.get(n, "items"); {
	case inner != nil && (name == "array" || name == ""):
		if of := r.typeName(inner, depth+1); of != "" {
			name = "array of " + of
		}
	case name == "" && r.get(n, "properties") != nil:
		name = "object"
	case name == "object" && r.get(n, "additionalProperties") != nil && r.get(n, "properties") == nil:
		if of := r.typeName(r.get(n, "additionalProperties"), depth+1); of != "" {
			name = "map of " + of
		}
	}
	if format := r.text(n, "format"); format != "" && name != "" {
		name += ", " + format
	}
	if r.isTrue(n, "nullable") && name != "" {
		name += " or null"
	}
	return oneLine(name, maxText)
}

// partTypes returns the distinct types of alternatives or parts.
func (r *reader) partTypes(parts []*yaml.Node, depth int) []string {
	const most = 12
	var names []string
	seen := map[string]bool{}
	for _, p := range parts {
		if r.cut {
			break
		}
		name := r.typeName(deref(p), depth+1)
		if name == "" || seen[name] {
			continue
		}
		if len(names) == most {
			return append(names, "others")
		}
		seen[name] = true
		names = append(names, name)
	}
	return names
}

// isSchema reports whether the file is a JSON Schema. Data that names its
// schema is not.
func (r *reader) isSchema() bool {
	if strings.Contains(r.text(r.root, "$schema"), "json-schema.org") {
		return true
	}
	hasFields := r.get(r.root, "properties") != nil || r.text(r.root, "$ref") != ""
	return hasFields && (r.get(r.root, "$defs") != nil || r.get(r.root, "definitions") != nil || r.text(r.root, "$schema") != "")
}

// jsonSchema writes a JSON Schema: an introduction, a section for each
// property and one for each definition.
func (r *reader) jsonSchema() {
	title := cmp.Or(oneLine(r.text(r.root, "title"), maxText), oneLine(r.text(r.root, "$id"), maxText), "JSON Schema")
	r.w.Title = title
	r.w.Heading(1, title, max(1, lineOf(r.root)))
	r.markdown(r.get(r.root, "description"), 2)
	var names []string
	all := r.propertiesOf(r.root)
	for _, p := range all {
		names = append(names, mdwriter.CodeSpan(oneLine(p.name, maxText)))
	}
	if len(names) > 0 {
		r.paragraph("Properties: "+strings.Join(names, ", "), lineOf(r.root))
	}
	r.propertySections("", all, 2)
	for _, key := range [...]string{"$defs", "definitions"} {
		for _, f := range r.fields(r.get(r.root, key)) {
			r.w.Heading(2, f.key, f.line)
			r.w.Entry()
			r.w.Anchor(schemaAnchor(f.key))
			r.w.Term(f.key)
			r.schema(f.value)
		}
	}
	r.externalSchemas()
}

// propertySections writes a section for each property, under its path:
// "server.port". A property with many fields has sections for those.
func (r *reader) propertySections(prefix string, all []property, level int) {
	const many = 8 // fields
	for _, p := range all {
		path := p.name
		if prefix != "" {
			path = prefix + "." + p.name
		}
		r.w.Heading(level, path, p.line)
		r.w.Anchor(anchor(path))
		r.w.Term(path)
		if path != p.name {
			r.w.Term(p.name)
		}
		if r.cut {
			return
		}
		r.paragraph(r.describe(p), p.line)
		inner := r.inlineProperties(r.element(p.value))
		if r.named(p.value) == "" && len(inner) > many && level < 2+maxDepth {
			r.propertySections(path, inner, level+1)
			continue
		}
		var all list
		for _, q := range inner {
			r.field(&all, q, 0, 1)
		}
		r.list("Fields", p.line, &all)
	}
}

// oneLine returns a description as one line without HTML, of at most limit
// bytes.
func oneLine(s string, limit int) string {
	const markup = 4 // bytes of HTML and white space for one of text
	if len(s) > markup*limit {
		s = strings.ToValidUTF8(s[:markup*limit], "")
	}
	s = strings.Join(strings.Fields(withoutHTML(s)), " ")
	if len(s) <= limit {
		return s
	}
	s = strings.ToValidUTF8(s[:limit], "")
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	if strings.Count(s, "`")%2 == 1 {
		s += "`"
	}
	return s + " ..."
}
