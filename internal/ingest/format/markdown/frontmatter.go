package markdown

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A frontMatterInfo holds the parsed front matter of a document.
type frontMatterInfo struct {
	title    string
	terms    []string // tags and keywords
	noteMeta passage.NoteMeta
	notes    []document.Note // problems
	lines    int             // number of lines, including the delimiters
}

// frontMatter parses front matter at the beginning of a document: YAML between
// lines of three hyphens, or TOML between lines of three plus signs.
func frontMatter(lines []string) frontMatterInfo {
	mark := strings.TrimRight(lines[0], " \t")
	if mark != "---" && mark != "+++" {
		return frontMatterInfo{}
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimRight(l, " \t") == mark })
	if end < 0 || !isFrontMatter(lines[1:end+1]) {
		return frontMatterInfo{}
	}
	unmarshal := yaml.Unmarshal
	if mark == "+++" {
		unmarshal = toml.Unmarshal
	}
	var fields map[string]any
	// Text between two thematic breaks is not a mapping.
	if err := unmarshal([]byte(strings.Join(lines[1:end+1], "\n")), &fields); err != nil {
		return frontMatterInfo{notes: brokenFrontMatter(lines[1:end+1], err)}
	}
	h := frontMatterInfo{lines: end + 2}
	title, _ := fields["title"].(string)
	h.title = strings.Join(strings.Fields(title), " ")
	for _, key := range []string{"tags", "keywords"} {
		h.terms = append(h.terms, parseTerms(fields[key])...)
	}
	h.noteMeta, h.notes = parseNoteMeta(fields, lines[:end+1])
	return h
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
