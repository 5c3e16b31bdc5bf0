package markdown

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A head is a document's front matter.
type head struct {
	title string
	terms []string // its tags and keywords
	use   passage.NoteMeta
	left  []document.Note // what of it is not understood
	lines int             // that it takes up
}

// frontMatter reads the front matter of a document: YAML between lines of three
// hyphens, or TOML between lines of three plus signs, at the very beginning.
func frontMatter(lines []string) head {
	mark := strings.TrimRight(lines[0], " \t")
	if mark != "---" && mark != "+++" {
		return head{}
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimRight(l, " \t") == mark })
	if end < 0 || !isFrontMatter(lines[1:end+1]) {
		return head{}
	}
	unmarshal := yaml.Unmarshal
	if mark == "+++" {
		unmarshal = toml.Unmarshal
	}
	var fields map[string]any
	// Between two thematic breaks there may be text, which is no mapping.
	if err := unmarshal([]byte(strings.Join(lines[1:end+1], "\n")), &fields); err != nil {
		return head{left: brokenFrontMatter(lines[1:end+1], err)}
	}
	h := head{lines: end + 2}
	title, _ := fields["title"].(string)
	h.title = strings.Join(strings.Fields(title), " ")
	for _, key := range []string{"tags", "keywords"} {
		h.terms = append(h.terms, termsOf(fields[key])...)
	}
	h.use, h.left = useOf(fields, lines[:end+1])
	return h
}

// isFrontMatter reports whether lines are short enough to be front matter. What
// compares the keys of a mapping takes the square of their number.
func isFrontMatter(lines []string) bool {
	const maxBytes, maxFields = 64 << 10, 1000
	size, fields := 0, 0
	for _, l := range lines {
		size += len(l)
		fields += 1 + strings.Count(l, ",") + strings.Count(l, ": ")
	}
	return size <= maxBytes && fields <= maxFields
}

// termsOf are the words of a list, or of a text with commas.
func termsOf(value any) []string {
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
