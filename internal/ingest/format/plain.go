package format

import (
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// maxSections is how many sections a text has. Further headings are text.
const maxSections = 100_000

// ParsePlain reads text without markup. Paragraphs end at blank lines; a line
// underlined in its full length is a heading, as in many a README.
func ParsePlain(source []byte) (document.Document, error) {
	doc := document.Document{Lines: document.SplitLines(source)}
	var path document.HeadingPath
	sections := []document.Section{{First: 1}}
	paragraph := false // a block is open
	for i := 0; i < len(doc.Lines); i++ {
		line, number := doc.Lines[i], i+1
		s := &sections[len(sections)-1]
		if level := underlined(doc.Lines, i); level > 0 && !paragraph && len(sections) < maxSections {
			title := strings.TrimSpace(line)
			if doc.Title == "" {
				doc.Title = title
			}
			s.Last = i
			sections = append(sections, document.Section{Headings: path.Push(level, title), First: number})
			i++ // the underline
			continue
		}
		switch blank := strings.TrimSpace(line) == ""; {
		case blank:
			paragraph = false
		case !paragraph:
			s.Blocks = append(s.Blocks, document.Block{First: number, Last: number})
			paragraph = true
		default:
			s.Blocks[len(s.Blocks)-1].Last = number
		}
	}
	sections[len(sections)-1].Last = len(doc.Lines)
	if len(sections[0].Blocks) == 0 {
		sections = sections[1:]
	}
	doc.Sections = sections
	return doc, nil
}

// underlined is the level of the heading on lines[i], 0 if it is none: 1 for
// one underlined with equals signs, 2 for hyphens, 3 for others.
func underlined(lines []string, i int) int {
	if i+1 >= len(lines) {
		return 0
	}
	title, line := strings.TrimRight(lines[i], " \t"), strings.TrimRight(lines[i+1], " \t")
	const shortest = 3
	if len(line) < shortest || strings.TrimSpace(title) != title || title == "" || isRule(title) || !isRule(line) {
		return 0
	}
	if n := len([]rune(title)); len(line) < n || len(line) > n+2 {
		return 0
	}
	switch line[0] {
	case '=':
		return 1
	case '-':
		return 2
	}
	return 3
}

// isRule reports whether the line is one sign, repeated, that people underline
// with.
func isRule(line string) bool {
	return line != "" && strings.IndexByte("=-~^*#", line[0]) >= 0 && strings.Count(line, line[:1]) == len(line)
}
