package markdown

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A frontMatterInfo holds the parsed front matter of a document.
type frontMatterInfo struct {
	fields   map[string]any
	title    string
	lead     string   // what the document is about
	terms    []string // tags and keywords
	noteMeta passage.NoteMeta
	notes    []document.Note // problems
	lines    int             // number of lines, including the delimiters
}

// frontMatter parses front matter at the beginning of a document: YAML between
// lines of three hyphens, or TOML between lines of three plus signs.
func frontMatter(lines []string) frontMatterInfo {
	mark := strings.TrimRight(lines[0], " \t")
	if strings.HasPrefix(mark, "% ") {
		return titleBlock(lines)
	}
	last := map[string]string{"---": "---", "+++": "+++", "{": "}"}[mark]
	if last == "" {
		return frontMatterInfo{}
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool {
		l = strings.TrimRight(l, " \t")
		return l == last || l == "..." && mark == "---"
	})
	if end < 0 || !isFrontMatter(lines[1:end+1]) {
		return frontMatterInfo{}
	}
	unmarshal, inner := yaml.Unmarshal, lines[1:end+1]
	switch mark {
	case "+++":
		unmarshal = toml.Unmarshal
	case "{":
		unmarshal, inner = json.Unmarshal, lines[:end+2]
	}
	var fields map[string]any
	// Text between two thematic breaks is not a mapping.
	if err := unmarshal([]byte(strings.Join(inner, "\n")), &fields); err != nil && mark == "{" {
		return frontMatterInfo{}
	} else if err != nil {
		return frontMatterInfo{notes: brokenFrontMatter(inner, err)}
	}
	h := frontMatterInfo{lines: end + 2, fields: fields}
	h.title = textOf(fields, "title", "Title", "page_title")
	h.lead = textOf(fields, "description", "Description", "summary", "intro", "excerpt")
	if endpoint := textOf(fields, "api"); endpoint != "" { // of Mintlify: "GET /users"
		h.lead = strings.TrimSpace("`" + strings.ReplaceAll(endpoint, "`", "") + "` " + h.lead)
	}
	for _, key := range []string{"tags", "keywords"} {
		h.terms = append(h.terms, parseTerms(fields[key])...)
	}
	h.noteMeta, h.notes = parseNoteMeta(fields, lines[:end+1])
	return h
}

// titleBlock parses the title block of Pandoc: lines that begin with "% ".
func titleBlock(lines []string) frontMatterInfo {
	const most = 3 // title, authors, date
	h := frontMatterInfo{title: strings.TrimSpace(lines[0][2:])}
	for h.lines < min(len(lines), most) && strings.HasPrefix(lines[h.lines], "%") {
		h.lines++
	}
	if h.lines < len(lines) && !document.IsBlank(lines[h.lines]) {
		return frontMatterInfo{}
	}
	return h
}

// textOf returns the text of the first of the fields that has one.
func textOf(fields map[string]any, keys ...string) string {
	for _, key := range keys {
		if text, ok := fields[key].(string); ok && strings.TrimSpace(text) != "" {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}

// withLead adds the lead to the lines of a document, below its title, unless its text says the
// same.
func (h *frontMatterInfo) withLead(lines []string, from []int) ([]string, []int) {
	const longest = 2000
	said := func(s string) string {
		return strings.Join(strings.FieldsFunc(strings.ToLower(s),
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
	}
	lead := said(h.lead)
	if lead == "" || len(h.lead) > longest || lead == said(h.title) {
		return lines, from
	}
	const near = 60 // lines in which the text begins
	if strings.Contains(said(strings.Join(lines[h.lines:min(len(lines), h.lines+near)], " ")), lead) {
		return lines, from
	}
	at := h.lines
	for at < len(lines) && document.IsBlank(lines[at]) {
		at++
	}
	if at < len(lines) && (strings.HasPrefix(lines[at], "# ") || strings.HasPrefix(lines[at], "## ")) {
		at++
	} else {
		at = h.lines
	}
	if from == nil {
		from = make([]int, len(lines))
		for i := range from {
			from[i] = i + 1
		}
	}
	source := 1
	if at > 0 && at <= len(from) {
		source = from[at-1]
	}
	added := []string{"", h.lead}
	if at < len(lines) && !document.IsBlank(lines[at]) {
		added = append(added, "")
	}
	return slices.Insert(slices.Clone(lines), at, added...),
		slices.Insert(slices.Clone(from), at, slices.Repeat([]int{source}, len(added))...)
}

// FrontMatterLines returns the number of lines of the front matter of a document,
// with the delimiters; 0 if it has none.
func FrontMatterLines(source []byte) int { return frontMatter(document.SplitLines(source)).lines }

// isFrontMatter reports whether lines are few and short enough for front
// matter. The check for duplicate keys of a mapping is quadratic.
func isFrontMatter(lines []string) bool {
	const maxBytes, maxFields = 64 << 10, 1000
	size, fields := 0, 0
	for _, l := range lines {
		size += len(l)
		fields += 1 + strings.Count(l, ",") + strings.Count(l, ": ")
	}
	return size <= maxBytes && fields <= maxFields
}

// parseTerms returns the strings of a list, or the parts of a comma-separated
// string.
func parseTerms(value any) []string {
	var terms []string
	add := func(s string) {
		if s = document.CleanTerm(s); s != "" && len(terms) < document.MaxTerms {
			terms = append(terms, s)
		}
	}
	switch value := value.(type) {
	case string:
		for s := range strings.SplitSeq(value, ",") {
			add(s)
		}
	case []any:
		for _, v := range value {
			if s, ok := v.(string); ok {
				add(s)
			}
		}
	}
	return terms
}
