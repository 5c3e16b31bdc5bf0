package format

import (
	"cmp"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// maxSections limits the sections of a text. Further headings are text.
const maxSections = 100_000

// ParsePlain parses text without markup. Blank lines separate paragraphs. A
// fully underlined line is a heading, as in many READMEs.
func ParsePlain(source []byte) (document.Document, error) {
	doc := document.Document{Lines: document.SplitLines(source)}
	var path document.HeadingPath
	sections := []document.Section{{First: 1}}
	paragraph := false // within a paragraph
	for i := 0; i < len(doc.Lines); i++ {
		line, number := doc.Lines[i], i+1
		s := &sections[len(sections)-1]
		if level := underlineLevel(doc.Lines, i); level > 0 && !paragraph && len(sections) < maxSections {
			title := strings.TrimSpace(line)
			doc.Title = cmp.Or(doc.Title, title)
			s.Last = i
			sections = append(sections, document.Section{Headings: path.Push(level, title), First: number})
			i++ // skip the underline
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

// underlineLevel returns the heading level of lines[i], or 0: 1 if it is
// underlined with equals signs, 2 with hyphens, 3 with other characters.
func underlineLevel(lines []string, i int) int {
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

// isRule reports whether a line is one underlining character, repeated.
func isRule(line string) bool {
	return line != "" && strings.IndexByte("=-~^*#", line[0]) >= 0 && strings.Count(line, line[:1]) == len(line)
}
